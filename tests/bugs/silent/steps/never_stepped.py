"""The step is missing."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    loss = nn.functional.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8]))
    loss.backward()  # OR
    #= loss.backward(); opt.step()
    opt.clear_grad()  # OR
    #= opt.clear_grad()
