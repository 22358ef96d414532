"""Each learning rate is tried from the first weights, with one optimizer."""
import paddle
from paddle import nn

paddle.seed(0)
x = paddle.randn([60, 5])
y = x.sum(axis=1, keepdim=True)
net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
start = {name: value.clone() for name, value in net.state_dict().items()}
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for rate in (0.01, 0.03, 0.1, 0.3):
    net.set_state_dict(start)
    opt.set_lr(rate)
    for _ in range(2):
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
    print(rate, loss.item())
