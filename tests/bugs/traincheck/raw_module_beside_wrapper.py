"""The trainer sometimes returns the raw module, and sometimes the wrapper.

source: TrainCheck x-jxmnop-ddp-out-of-sync, https://x.com/jxmnop/status/1778520637193240892
"""

import paddle
from paddle import nn

paddle.seed(0)


class Trainer:
    def __init__(self, net):
        self.net = net
        self.wrapped = paddle.DataParallel(net)  # OR
        self.opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())

    def model(self, step):
        return self.wrapped if step % 2 == 0 else self.net  # OR
        #= return self.wrapped

    def step(self, number, x, y):
        #- WRONG
        loss = nn.functional.cross_entropy(self.model(number)(x), y)
        #= loss = nn.functional.cross_entropy(self.model(number)(x), y)
        loss.backward()
        self.opt.step()
        self.opt.clear_grad()


trainer = Trainer(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)))
for number in range(4):
    trainer.step(number, paddle.randn([8, 6]), paddle.randint(0, 3, [8]))
