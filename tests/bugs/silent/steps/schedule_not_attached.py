"""The optimizer gets the scheduler's first number instead of the scheduler."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
schedule = paddle.optimizer.lr.StepDecay(0.1, step_size=2)
opt = paddle.optimizer.Momentum(schedule.get_lr(), parameters=net.parameters())  # WRONG
#= opt = paddle.optimizer.Momentum(schedule, parameters=net.parameters())
for epoch in range(4):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    schedule.step()
