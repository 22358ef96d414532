"""A forward hook collects activations that are never read."""

import paddle

activations = {}
paddle.seed(41)
net = paddle.nn.Sequential(paddle.nn.Linear(32, 64), paddle.nn.ReLU(), paddle.nn.Linear(64, 4))
net[1].register_forward_post_hook(
    lambda layer, inputs, output: activations.setdefault("relu", []).append(output.detach())
)
optimizer = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for _ in range(5):
    loss = net(paddle.randn([16, 32])).square().mean()  # BUG: leaked-tensor
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
