"""A cosine schedule without a call of step."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
schedule = paddle.optimizer.lr.CosineAnnealingDecay(0.1, T_max=6)  # OR
opt = paddle.optimizer.Momentum(schedule, parameters=net.parameters())
for epoch in range(6):
    for _ in range(2):
        x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()  # WRONG
        #= opt.step()
        opt.clear_grad()
    #+ schedule.step()
