"""All weights equal: hidden units stay the same for ever."""
import paddle
from paddle import nn

paddle.seed(0)
same = nn.initializer.Constant(0.1)
net = nn.Sequential(
    nn.Linear(6, 16, weight_attr=same),  # WRONG
    #= nn.Linear(6, 16),
    nn.ReLU(),
    nn.Linear(16, 3),
)
for layer in (net[0], net[2]):
    nn.initializer.Constant(0.1)(layer.weight)  # OR
    #= nn.initializer.XavierNormal()(layer.weight)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    loss = nn.functional.mse_loss(net(paddle.randn([16, 6])), paddle.randn([16, 3]))  # OR
    #= loss = nn.functional.mse_loss(net(paddle.randn([16, 6])), paddle.randn([16, 3]))
    loss.backward()
    opt.step()  # OR
    #= opt.step()
    opt.clear_grad()
