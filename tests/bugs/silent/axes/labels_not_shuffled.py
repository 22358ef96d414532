"""Inputs follow a permutation, and labels do not."""
import paddle
from paddle import nn

paddle.seed(0)
x = paddle.randn([32, 5])
y = (x.sum(axis=1) > 0).astype("int64")
net = nn.Linear(5, 2)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for epoch in range(2):
    order = paddle.randperm(32)
    for start in range(0, 32, 16):
        rows = order[start : start + 16]
        inputs = x[rows]  # OR
        labels = y[start : start + 16]  # WRONG
        #= labels = y[rows]
        loss = nn.functional.cross_entropy(net(inputs), labels)
        loss.backward()
        opt.step()
        opt.clear_grad()
