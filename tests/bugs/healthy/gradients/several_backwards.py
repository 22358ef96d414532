"""One graph with several losses: ``retain_graph``, the gradients of each, then the sum."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(18)
body, depth, normals = nn.Linear(16, 64), nn.Linear(64, 1), nn.Linear(64, 3)
net = nn.LayerList([body, depth, normals])
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
norms = []
for _ in range(3):
    hidden = F.relu(body(paddle.randn([32, 16])))
    first = F.l1_loss(depth(hidden), paddle.rand([32, 1]))
    second = (1 - F.cosine_similarity(normals(hidden), paddle.randn([32, 3]))).mean()
    first.backward(retain_graph=True)
    norms.append(body.weight.grad.norm().item())
    second.backward()
    optimizer.step()
    optimizer.clear_grad()
print(norms)
