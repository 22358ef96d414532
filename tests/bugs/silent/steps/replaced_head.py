"""The head is replaced after the optimizer was made."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 10))
#+ net[2] = nn.Linear(8, 3)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())  # OR
net[2] = nn.Linear(8, 3)  # WRONG
for step in range(4):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    loss = nn.functional.cross_entropy(net(x), y)  # OR
    loss.backward()
    opt.step()  # OR
    #= opt.step()
    opt.clear_grad()
