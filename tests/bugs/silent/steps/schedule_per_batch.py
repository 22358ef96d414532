"""A schedule of ten epochs, stepped by batch: after a tenth of the training the rate is zero."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
schedule = paddle.optimizer.lr.PolynomialDecay(0.1, decay_steps=4, end_lr=0.0)  # OR
opt = paddle.optimizer.SGD(schedule, parameters=net.parameters())
for epoch in range(3):
    for batch in range(4):
        x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        schedule.step()  # WRONG
    #+ schedule.step()
