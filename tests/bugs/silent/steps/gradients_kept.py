"""Gradients are never cleared."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(4):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()  # WRONG
    #= opt.step(); opt.clear_grad()
