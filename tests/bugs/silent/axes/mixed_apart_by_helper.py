"""A helper shuffles images and labels apart."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
def permuted(t):
    return t[paddle.randperm(t.shape[0])]
net = nn.Linear(5, 3); opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    x = paddle.randn([12, 5]); y = F.one_hot(paddle.randint(0, 3, [12]), 3)
    a, b = permuted(x), permuted(y)  # WRONG
    #= order = paddle.randperm(12); a, b = x[order], y[order]
    loss = F.cross_entropy(net(0.7 * x + 0.3 * a), 0.7 * y + 0.3 * b, soft_label=True)
    loss.backward(); opt.step(); opt.clear_grad()
