"""A schedule that decays by epochs is stepped for each batch."""
import paddle
from paddle import nn
paddle.seed(0)
net = nn.Linear(8, 2)
sch = paddle.optimizer.lr.StepDecay(0.1, step_size=1, gamma=0.1)
opt = paddle.optimizer.SGD(sch, parameters=net.parameters())
for epoch in range(3):
    for b in range(4):
        nn.functional.cross_entropy(net(paddle.randn([8,8])), paddle.randint(0,2,[8])).backward()
        opt.step(); opt.clear_grad()
        sch.step()  # WRONG
    #+ sch.step()
