"""Hooks on layers and tensors: they store features, and read and scale gradients."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(33)
net = nn.Sequential(
    nn.Conv2D(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2D(8, 16, 3, padding=1), nn.ReLU(),
    nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(16, 5),
)  # fmt: skip
features, gradients = {}, {}


def keep(layer, inputs, output):
    features["last"] = output
    output.register_hook(lambda gradient: gradients.update(last=gradient))


handle = net[2].register_forward_post_hook(keep)
net.eval()
image = paddle.randn([1, 3, 24, 24])
scores = net(image)
scores[0, int(scores.argmax())].backward()
weights = gradients["last"].mean(axis=[2, 3], keepdim=True)
heat = F.relu((weights * features["last"]).sum(1)).detach()
print((heat / heat.max()).shape)
handle.remove()
net.clear_gradients()

net.train()
norms = {}
for name, parameter in net.named_parameters():
    parameter.register_hook(
        lambda gradient, name=name: norms.setdefault(name, []).append(gradient.norm().item())
    )
shapes = []
handles = [
    layer.register_forward_post_hook(lambda _, __, out: shapes.append(out.shape)) for layer in net
]
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(3):
    F.cross_entropy(net(paddle.randn([4, 3, 24, 24])), paddle.randint(0, 5, [4])).backward()
    optimizer.step()
    optimizer.clear_grad()
for handle in handles:
    handle.remove()
print(len(norms), len(shapes))
