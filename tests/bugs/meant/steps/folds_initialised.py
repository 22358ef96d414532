import paddle
from paddle import nn
paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
def reset(layer):
    if isinstance(layer, nn.Linear):
        nn.initializer.XavierNormal()(layer.weight)
for fold in range(3):
    net.apply(reset)
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for step in range(3):
        nn.functional.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8])).backward()
        opt.step()
        opt.clear_grad()
