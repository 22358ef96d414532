"""Both step and minimize: each update is made twice."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()  # OR
    opt.minimize(loss)  # WRONG
    opt.clear_grad()
