import paddle
import paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1D(16), nn.ReLU(), nn.Linear(16, 3))
opt = paddle.optimizer.SGD(1e-2, parameters=net.parameters())
for step in range(4):
    F.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8])).backward()
    opt.step()
    opt.clear_grad()
with paddle.no_grad():
    for _ in range(3):
        net(paddle.randn([8, 6]))
