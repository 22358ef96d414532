"""The last batch has one sample, and squeeze removes its axis."""
import paddle
from paddle import nn

paddle.seed(0)
data, target = paddle.randn([33, 5]), paddle.randn([33])
net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for i in range(0, 33, 8):
    out = net(data[i : i + 8]).squeeze()  # WRONG
    #= out = net(data[i : i + 8]).squeeze(-1)
    loss = nn.functional.mse_loss(out, target[i : i + 8])
    loss.backward()
    opt.step()
    opt.clear_grad()
