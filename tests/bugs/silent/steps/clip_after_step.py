"""Gradients are clipped after the step used them."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(4):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    #+ nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # WRONG
    opt.clear_grad()
