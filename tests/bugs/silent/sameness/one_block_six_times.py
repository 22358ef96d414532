"""[block] * 4 is one block, four times."""
import paddle
from paddle import nn

paddle.seed(0)
block = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
net = nn.Sequential(*[block] * 4, nn.Linear(8, 3))  # WRONG
#= net = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(4)], nn.Linear(8, 3))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    loss = nn.functional.cross_entropy(net(paddle.randn([16, 8])), paddle.randint(0, 3, [16]))
    loss.backward()
    opt.step()
    opt.clear_grad()
