import paddle
from paddle import nn
paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1D(16), nn.ReLU(), nn.Linear(16, 3))
for p in net.parameters():
    p.stop_gradient = True
for p in net[1].parameters()[:2]:
    p.stop_gradient = False
opt = paddle.optimizer.Adam(1e-3, parameters=net[1].parameters()[:2])
for step in range(3):
    p = nn.functional.softmax(net(paddle.randn([16, 6])))
    (-(p * paddle.log(p)).sum(axis=1).mean()).backward()
    opt.step()
    opt.clear_grad()
