"""Inputs and labels are shuffled by two permutations."""
import paddle
from paddle import nn

paddle.seed(0)
data, labels = paddle.randn([64, 6]), paddle.randint(0, 3, [64])
net = nn.Linear(6, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for epoch in range(2):
    order = paddle.randperm(64)
    x = data[order]
    y = labels[paddle.randperm(64)]  # WRONG
    #= y = labels[order]
    for i in range(0, 64, 16):
        loss = nn.functional.cross_entropy(net(x[i : i + 16]), y[i : i + 16])
        loss.backward()
        opt.step()
        opt.clear_grad()
