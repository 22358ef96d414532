"""Gradient accumulation, a closure that clears gradients, and all other ways to clear them."""

import paddle


def batches(count):
    for _ in range(count):
        yield paddle.randn([4, 3])


paddle.seed(0)
clearings = (
    lambda net, optimizer: optimizer.clear_grad(),
    lambda net, optimizer: optimizer.clear_grad(set_to_zero=False),
    lambda net, optimizer: net.clear_gradients(),
    lambda net, optimizer: [parameter.clear_gradient() for parameter in net.parameters()],
)
for clear in clearings:
    net = paddle.nn.Linear(3, 2)
    optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    for number, batch in enumerate(batches(6)):
        (net(batch).square().mean() / 2).backward()
        if number % 2:
            optimizer.step()
            clear(net, optimizer)

net = paddle.nn.Linear(3, 1)
optimizer = paddle.optimizer.LBFGS(0.1, max_iter=2, parameters=net.parameters())
inputs = paddle.randn([8, 3])


def closure():
    optimizer.clear_grad()
    loss = net(inputs).square().mean()
    loss.backward()
    return loss


for _ in range(3):
    optimizer.step(closure)
