"""Mixup and soft labels, class weights, noisy inputs, training on the hardest examples."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(56)
net = nn.Sequential(nn.Linear(16, 64), nn.PReLU(), nn.Dropout(0.1), nn.Linear(64, 4))
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
class_weights = paddle.to_tensor([1.0, 2.0, 1.0, 0.5])
for _ in range(3):
    x, y = paddle.randn([64, 16]), paddle.randint(0, 4, [64])
    share = float(paddle.distribution.Beta(0.4, 0.4).sample())
    order = paddle.randperm(64)
    logits = net(share * x + (1 - share) * x[order])
    labels = F.label_smooth(F.one_hot(y, 4)) * share + (1 - share) * F.one_hot(y[order], 4)
    loss = F.cross_entropy(logits, labels, soft_label=True)
    loss = loss + F.cross_entropy(net(x), y, weight=class_weights)
    by_row = F.cross_entropy(net(x + 0.1 * paddle.randn(x.shape)), y, reduction="none")
    hardest, _ = by_row.topk(16)
    loss = loss + hardest.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
