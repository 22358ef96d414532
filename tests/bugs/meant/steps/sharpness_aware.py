import paddle
from paddle import nn
paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
opt = paddle.optimizer.Momentum(1e-2, parameters=net.parameters())
for step in range(4):
    x, y = paddle.randn([8, 6]), paddle.randint(0, 3, [8])
    nn.functional.cross_entropy(net(x), y).backward()
    with paddle.no_grad():
        moved = [0.05 * p.grad / (p.grad.norm() + 1e-9) for p in net.parameters()]
        for p, m in zip(net.parameters(), moved):
            p.set_value(p + m)
    opt.clear_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    with paddle.no_grad():
        for p, m in zip(net.parameters(), moved):
            p.set_value(p - m)
    opt.step()
    opt.clear_grad()
