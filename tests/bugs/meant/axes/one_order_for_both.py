"""Mixup by one permutation in a helper, negatives in another order, a shuffle for each epoch."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
def reorder(order, *parts):
    return [one[order] for one in parts]
net = nn.Linear(5, 3); opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
data, labels = paddle.randn([24, 5]), F.one_hot(paddle.randint(0, 3, [24]), 3)
for epoch in range(2):
    x, y = reorder(paddle.randperm(24), data, labels)
    a, b = reorder(paddle.randperm(24), x, y)
    negatives = x[paddle.randperm(24)]
    loss = F.cross_entropy(net(0.7 * x + 0.3 * a), 0.7 * y + 0.3 * b, soft_label=True)
    loss = loss + 0.1 * F.relu(1 - (net(x) - net(negatives)).square().sum(-1)).mean()
    loss.backward(); opt.step(); opt.clear_grad()
