"""A moving average of the loss, kept on a trainer as a tensor."""

import paddle


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
        self.average = None

    def step(self, batch):
        loss = self.net(batch).abs().mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        if self.average is None:
            self.average = loss
        else:
            self.average = 0.9 * self.average + 0.1 * loss  # BUG: graph-kept


paddle.seed(33)
trainer = Trainer(
    paddle.nn.Sequential(paddle.nn.Linear(4, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 1))
)
for _ in range(4):
    trainer.step(paddle.randn([8, 4]))
