"""The schedule is stepped for each micro-batch of an accumulation: it ends after a fourth.

source: https://github.com/huggingface/accelerate/issues/963
"""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
updates, parts = 8, 4
schedule = paddle.optimizer.lr.PolynomialDecay(0.1, decay_steps=updates, end_lr=0.0)  # OR
opt = paddle.optimizer.Momentum(schedule, parameters=net.parameters())
for number in range(updates * parts):
    x, y = paddle.randn([8, 6]), paddle.randint(0, 3, [8])
    loss = nn.functional.cross_entropy(net(x), y) / parts
    loss.backward()
    if (number + 1) % parts == 0:
        opt.step()
        opt.clear_grad()
        #+ schedule.step()
    schedule.step()  # WRONG
