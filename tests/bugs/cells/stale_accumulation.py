"""Gradient accumulation: gradients are cleared after each epoch instead of after each step."""

import paddle

paddle.seed(24)
net = paddle.nn.Sequential(paddle.nn.Linear(3, 6), paddle.nn.Tanh(), paddle.nn.Linear(6, 1))
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
for epoch in range(2):
    for number, batch in enumerate(paddle.randn([6, 4, 3])):
        loss = net(batch).square().mean() / 3
        loss.backward()
        if number % 3 == 2:
            optimizer.step()  # BUG: gradient-not-cleared
    optimizer.clear_grad()
