import paddle
from paddle import nn
paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
start = {k: v.clone() for k, v in net.state_dict().items()}
for fold in range(3):
    paddle.seed(fold)
    net.set_state_dict(start)
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for step in range(3):
        nn.functional.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8])).backward()
        opt.step()
        opt.clear_grad()
