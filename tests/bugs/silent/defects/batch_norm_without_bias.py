"""Batch norm without a bias: Paddle then gives the scale no gradient."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(
    nn.Linear(6, 16),
    nn.BatchNorm1D(16, bias_attr=False),  # WRONG
    #= nn.BatchNorm1D(16),
    nn.ReLU(),
    nn.Linear(16, 3),
)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    out = net(paddle.randn([16, 6]))  # OR
    #= out = net(paddle.randn([16, 6]))
    loss = nn.functional.cross_entropy(out, paddle.randint(0, 3, [16]))
    loss.backward()
    opt.step()
    opt.clear_grad()
