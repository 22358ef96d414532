"""The inputs of each step are stored for debugging, and never removed."""

import paddle

paddle.seed(44)
net = paddle.nn.Linear(64, 8)
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
debug = []
for _ in range(5):
    batch = paddle.randn([16, 64]) * 0.5  # BUG: leaked-tensor
    debug.append(batch)
    net(batch).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
