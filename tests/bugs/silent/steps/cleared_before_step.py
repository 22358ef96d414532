"""Gradients are cleared between backward and step."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(5):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    #+ opt.clear_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.clear_grad()  # WRONG
    opt.step()
