"""Initial weights are compared before the training: each is used once."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
initializers = nn.initializer.Constant(0.0), nn.initializer.Normal(), nn.initializer.XavierNormal()
for initializer in initializers:
    for layer in (net[0], net[2]):
        initializer(layer.weight)
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    print(float(net[0].weight.grad.norm()))
    net.clear_gradients()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
