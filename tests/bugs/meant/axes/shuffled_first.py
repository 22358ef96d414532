"""Both sides follow one permutation; labels are put in order before the loop over batches."""
import numpy as np
import paddle
from paddle import nn

paddle.seed(0)
x = paddle.randn([32, 5])
labels = np.random.randint(0, 2, 32)
net = nn.Linear(5, 2)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for epoch in range(3):
    order = paddle.randperm(32)
    y = paddle.to_tensor(labels[order.numpy()])
    for start in range(0, 32, 16):
        inputs = x[order[start : start + 16]]
        loss = nn.functional.cross_entropy(net(inputs), y[start : start + 16])
        loss.backward()
        opt.step()
        opt.clear_grad()
