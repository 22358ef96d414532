import paddle
from paddle import nn
paddle.seed(0)
net = nn.Linear(4, 1)
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
x, y = paddle.randn([16, 4]), paddle.randn([16, 1])
for step in range(4):
    with paddle.no_grad():
        start = [p.clone() for p in net.parameters()]
        total = [paddle.zeros_like(p) for p in start]
        for _ in range(3):
            noise = [paddle.randn(p.shape) for p in start]
            for p, s, n in zip(net.parameters(), start, noise):
                p.set_value(s + 0.1 * n)
            score = float((net(x) - y).square().mean())
            total = [t + score * n for t, n in zip(total, noise)]
        for p, s, t in zip(net.parameters(), start, total):
            p.set_value(s)
            p.grad = t
    opt.step()
    opt.clear_grad()
