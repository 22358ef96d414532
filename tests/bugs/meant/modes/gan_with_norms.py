import paddle
import paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1D(16), nn.ReLU(), nn.Linear(16, 8), nn.Tanh())
D = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(16, 1))
g = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=G.parameters())
d = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=D.parameters())
fixed = paddle.randn([4, 4])
for step in range(4):
    real = paddle.rand([8, 8]) * 2 - 1
    with paddle.no_grad():
        fake = G(paddle.randn([8, 4]))
    a, b = D(real), D(fake)
    loss = F.binary_cross_entropy_with_logits(a, paddle.ones_like(a)) + F.binary_cross_entropy_with_logits(b, paddle.zeros_like(b))
    loss.backward()
    d.step()
    d.clear_grad()
    out = D(G(paddle.randn([8, 4])))
    F.binary_cross_entropy_with_logits(out, paddle.ones_like(out)).backward()
    g.step()
    g.clear_grad()
    d.clear_grad()
    with paddle.no_grad():
        picture = G(fixed).numpy()
