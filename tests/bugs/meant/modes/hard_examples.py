import paddle
import paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1D(16), nn.ReLU(), nn.Linear(16, 3))
opt = paddle.optimizer.SGD(1e-2, parameters=net.parameters())
for step in range(4):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    with paddle.no_grad():
        losses = F.cross_entropy(net(x), y, reduction="none").flatten()
    hard = paddle.topk(losses, 8)[1]
    F.cross_entropy(net(x[hard]), y[hard]).backward()
    opt.step()
    opt.clear_grad()
