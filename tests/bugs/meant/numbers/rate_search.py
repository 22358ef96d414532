"""A search for a learning rate raises it until the loss grows."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
opt = paddle.optimizer.SGD(1e-3, parameters=net.parameters())
x = paddle.randn([64, 5])
y = x.sum(axis=1, keepdim=True)
for step in range(14):
    opt.set_lr(1e-3 * 2**step)
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
