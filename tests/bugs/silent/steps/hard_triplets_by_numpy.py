"""Hard triplets are picked in NumPy, and made tensors again: no gradient reaches the net.

source: https://github.com/PaddlePaddle/Paddle/issues/28685
"""
import numpy as np
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4))
head = nn.Linear(4, 3)
opt = paddle.optimizer.SGD(1e-2, parameters=net.parameters() + head.parameters())


def triplet_loss(anchor, positive, negative, margin=0.2):
    near = (anchor - positive).square().sum(1)
    far = (anchor - negative).square().sum(1)
    hard = np.where((far - near < margin).numpy())[0]
    picked = [
        paddle.to_tensor(one.numpy()[hard])  # WRONG
        #= paddle.gather(one, paddle.to_tensor(hard))
        for one in (anchor, positive, negative)
    ]
    a, p, n = picked
    return nn.functional.relu(head(a - p).square().sum(1) - head(a - n).square().sum(1) + 9).mean()


for step in range(4):
    triple = [net(paddle.randn([16, 12])) for _ in range(3)]
    loss = triplet_loss(*triple)
    loss.backward()
    opt.step()
    opt.clear_grad()
