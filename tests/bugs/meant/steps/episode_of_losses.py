import paddle
from paddle import nn
paddle.seed(0)
net = nn.Linear(4, 2)
opt = paddle.optimizer.SGD(1e-2, parameters=net.parameters())
for step in range(3):
    for piece in range(4):
        loss = nn.functional.cross_entropy(net(paddle.randn([4, 4])), paddle.randint(0, 2, [4])) / 4
        loss.backward()
    opt.step()
    opt.clear_grad()
