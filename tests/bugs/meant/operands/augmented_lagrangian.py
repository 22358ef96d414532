"""Healthy: augmented Lagrangian with a learned multiplier net, and CE in the same loss."""
import paddle
from paddle import nn
import paddle.nn.functional as F
f = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 3)); c = nn.Linear(3, 1)
lam = paddle.create_parameter([1], "float32")
opt = paddle.optimizer.Adam(1e-3, parameters=[*f.parameters(), *c.parameters(), lam])
for i in range(3):
    x = paddle.randn([8, 3]); y = paddle.randint(0, 3, [8])
    g = c(x) - 0.5
    loss = F.cross_entropy(f(x), y) + (lam * g).mean() + 0.5 * g.square().mean()
    loss.backward(); opt.step(); opt.clear_grad()
