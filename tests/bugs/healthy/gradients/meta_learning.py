"""Meta-learning: inner steps that the outer gradient passes through (MAML), then Reptile."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(39)
weights = [paddle.create_parameter(shape, "float32") for shape in ([4, 40], [40], [40, 1], [1])]
optimizer = paddle.optimizer.Adam(1e-3, parameters=weights)


def forward(x, w):
    return F.relu(x @ w[0] + w[1]) @ w[2] + w[3]


for _ in range(3):
    outer = 0.0
    for _ in range(2):
        x, slope = paddle.randn([16, 4]), paddle.randn([4, 1])
        y = x @ slope
        fast = list(weights)
        for _ in range(2):
            inner = F.mse_loss(forward(x, fast), y)
            gradients = paddle.grad(inner, fast, create_graph=True)
            fast = [w - 0.05 * g for w, g in zip(fast, gradients, strict=True)]
        other = paddle.randn([16, 4])
        outer = outer + F.mse_loss(forward(other, fast), other @ slope)
    optimizer.clear_grad()
    (outer / 2).backward()
    optimizer.step()

net = nn.Sequential(nn.Linear(4, 40), nn.Tanh(), nn.Linear(40, 1))
for _ in range(2):
    before = {name: value.clone() for name, value in net.state_dict().items()}
    inner_optimizer = paddle.optimizer.SGD(0.02, parameters=net.parameters())
    x = paddle.randn([16, 4])
    for _ in range(3):
        F.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
        inner_optimizer.step()
        inner_optimizer.clear_grad()
    after = net.state_dict()
    net.set_state_dict(
        {name: value + 0.5 * (after[name] - value) for name, value in before.items()}
    )
