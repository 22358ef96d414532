"""Healthy: own attributes of an optimizer; a subclass that reads them; a log of the rate."""
import paddle
from paddle import nn
class Warm(paddle.optimizer.SGD):
    def __init__(self, rate, parameters):
        super().__init__(rate, parameters=parameters)
        self.lr = rate; self.n = 0
    def step(self):
        self.n += 1
        self.set_lr(self.lr * min(1, self.n / 3))
        super().step()
net = nn.Linear(3, 1)
opt = Warm(0.1, net.parameters()); adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())
adam.name = "second"; adam.epoch = 0
sched = paddle.optimizer.lr.StepDecay(0.1, 1); sgd = paddle.optimizer.SGD(sched, parameters=net.parameters())
for k in range(3):
    for o in (opt, adam, sgd):
        loss = net(paddle.randn([4, 3])).square().mean()
        loss.backward(); o.step(); o.clear_grad()
    sched.step(); adam.learning_rate = adam.get_lr(); adam.set_lr(0.01)
