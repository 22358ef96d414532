"""Batch norm over one value for each channel."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 1))
norm = nn.LayerNorm(1)
#= norm = nn.Identity()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    x = paddle.randn([8, 6])
    score = norm(net(x))  # WRONG
    #= score = norm(net(x))
    loss = (score - x.sum(axis=1, keepdim=True)).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
