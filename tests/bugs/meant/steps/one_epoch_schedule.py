import paddle
from paddle import nn
paddle.seed(0)
net = nn.Linear(6, 3)
schedule = paddle.optimizer.lr.StepDecay(0.1, step_size=10)
opt = paddle.optimizer.Momentum(schedule, parameters=net.parameters())
for batch in range(6):
    loss = nn.functional.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8]))
    loss.backward()
    opt.step()
    opt.clear_grad()
schedule.step()
