# The optimizer decays the weights; after the step, the loss that is shown contains the penalty. Then
# a penalty that has a backward call of its own, and one that is added before backward.
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)


def penalty(net):
    return sum((weight**2).sum() for weight in net.parameters())


def batch():
    x = paddle.randn([16, 6])
    return x, x.sum(axis=1, keepdim=True)


net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters(), weight_decay=1e-3)
for step in range(3):
    x, y = batch()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    loss = loss + 5e-4 * penalty(net)
    print(float(loss))

net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for step in range(3):
    x, y = batch()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    l2 = 1e-3 * penalty(net)
    l2.backward()
    loss = loss + l2
    opt.step()
    opt.clear_grad()
    print(float(loss))
