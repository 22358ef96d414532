import paddle
from paddle import nn
paddle.seed(0)
net = nn.Linear(6, 3)
schedule = paddle.optimizer.lr.CosineAnnealingDecay(0.1, T_max=8)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(6):
    opt.set_lr(schedule.get_lr())
    nn.functional.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8])).backward()
    opt.step()
    opt.clear_grad()
    schedule.step()
