"""Diffusion: noise and time steps are drawn once, before the loop."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(16)
T = 50
alpha_bar = paddle.cumprod(1 - paddle.linspace(1e-4, 0.05, T), dim=0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(T, 8)
        self.mlp = nn.Sequential(nn.Linear(10, 64), nn.SiLU(), nn.Linear(64, 2))

    def forward(self, x, t):
        return self.mlp(paddle.concat([x, self.emb(t)], axis=1))


net = Net()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
noise = paddle.randn([32, 2])  # WRONG
t = paddle.randint(0, T, [32])  # OR
for step in range(4):
    #+ noise = paddle.randn([32, 2])
    #+ t = paddle.randint(0, T, [32])
    x0 = paddle.randn([32, 2]) * 0.1 + 1
    a = alpha_bar[t].unsqueeze(1)
    xt = a.sqrt() * x0 + (1 - a).sqrt() * noise  # OR
    loss = F.mse_loss(net(xt, t), noise)  # OR
    loss.backward()
    opt.step()
    opt.clear_grad()
#+ noise = None
