"""A trainer class with AdamW: the loss first falls, then oscillates more and more."""

import paddle
from paddle.nn import functional as F


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = paddle.optimizer.AdamW(0.01, parameters=model.parameters())

    def train_batch(self, inputs, labels):
        loss = F.cross_entropy(self.model(inputs), labels)
        loss.backward()
        self.optimizer.step()  # BUG: gradient-not-cleared
        return float(loss)


paddle.seed(21)
trainer = Trainer(
    paddle.nn.Sequential(paddle.nn.Linear(5, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 3))
)
for _ in range(4):
    trainer.train_batch(paddle.randn([6, 5]), paddle.randint(0, 3, [6]))
