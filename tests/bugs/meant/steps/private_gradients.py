"""DP-SGD reads the gradient of each sample, clears it, and sets the sum of the clipped ones."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(3):
    x, y = paddle.randn([4, 4]), paddle.randint(0, 2, [4])
    total = [paddle.zeros_like(one) for one in net.parameters()]
    for i in range(4):
        F.cross_entropy(net(x[i : i + 1]), y[i : i + 1]).backward()
        norm = paddle.sqrt(sum((one.grad**2).sum() for one in net.parameters()))
        scale = paddle.clip(1.0 / (norm + 1e-6), max=1.0)
        total = [a + one.grad * scale for a, one in zip(total, net.parameters())]
        opt.clear_grad()
    for one, a in zip(net.parameters(), total):
        one.grad = (a + 0.1 * paddle.randn(a.shape)) / 4
    opt.step()
    opt.clear_grad()
