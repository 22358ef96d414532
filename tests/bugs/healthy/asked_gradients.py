"""`paddle.grad` with respect to inputs, to some parameters, and to intermediate values."""

import paddle
from paddle import nn

paddle.seed(3)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
labels = paddle.randint(0, 3, [6])

image = paddle.randn([6, 4])
image.stop_gradient = False
hidden = net[1](net[0](image))
scores = net[2](hidden)
confidence = nn.functional.softmax(scores).max(axis=1).detach()
loss = (nn.functional.cross_entropy(scores, labels, reduction="none") * confidence).mean()
(push,) = paddle.grad(loss, [image], retain_graph=True)
(importance,) = paddle.grad(loss, [hidden], retain_graph=True)
attacked = image.detach() + 0.1 * paddle.sign(push)
print(attacked.mean().item(), importance.abs().mean().item())

# An inner loop over the head alone, whose outer loss trains everything.
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
for _ in range(2):
    weight, bias = net[2].weight, net[2].bias
    for _ in range(2):
        inner = nn.functional.linear(net[1](net[0](image.detach())), weight, bias)
        inner = (inner - 1).square().sum()
        slopes = paddle.grad(inner, [weight, bias], create_graph=True)
        weight, bias = weight - 0.1 * slopes[0], bias - 0.1 * slopes[1]
    outer = nn.functional.linear(net[1](net[0](image.detach())), weight, bias)
    nn.functional.cross_entropy(outer, labels).backward()
    optimizer.step()
    optimizer.clear_grad()
