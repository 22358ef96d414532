"""The clip is made and not given to the optimizer."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.LSTM(6, 8)
clip = nn.ClipGradByGlobalNorm(1.0)  # WRONG
#= clip = nn.ClipGradByGlobalNorm(1.0)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())  # OR
#= opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters(), grad_clip=clip)
for step in range(3):
    loss = net(paddle.randn([4, 5, 6]))[0].square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
