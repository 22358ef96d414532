"""A bias far below zero: the ReLU gives only zeros."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(
    nn.Linear(6, 16, bias_attr=nn.initializer.Constant(-20.0)),  # OR
    #= nn.Linear(6, 16),
    nn.ReLU(),
    nn.Linear(16, 3),
)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    out = net(paddle.randn([16, 6]))  # WRONG
    #= out = net(paddle.randn([16, 6]))
    loss = nn.functional.cross_entropy(out, paddle.randint(0, 3, [16]))
    loss.backward()
    opt.step()
    opt.clear_grad()
