import paddle
from paddle import nn
paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
for stage, rate in enumerate((1e-2, 1e-3)):
    opt = paddle.optimizer.Adam(rate, parameters=net.parameters() if stage else net[2].parameters())
    for step in range(3):
        nn.functional.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8])).backward()
        opt.step()
        opt.clear_grad()
        net.clear_gradients()
