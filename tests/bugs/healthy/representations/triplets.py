"""Metric learning: distances are trained on the hardest triplets of a batch."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(57)
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 8))
centers = paddle.create_parameter([4, 8], "float32")
optimizer = paddle.optimizer.Adam(1e-3, parameters=[*net.parameters(), centers])
for _ in range(3):
    x, y = paddle.randn([32, 16]), paddle.arange(32) % 4
    code = F.normalize(net(x), axis=1)
    same = y.unsqueeze(0) == y.unsqueeze(1)
    distance = (2 - 2 * code @ code.T).clip(min=1e-6).sqrt()
    with paddle.no_grad():
        far = paddle.where(same, distance, paddle.full_like(distance, -1.0)).argmax(1)
        near = paddle.where(same, paddle.full_like(distance, 9.0), distance).argmin(1)
    loss = F.triplet_margin_loss(code, code[far], code[near], margin=0.2)
    loss = loss + 0.01 * (code - centers[y]).square().sum(1).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
