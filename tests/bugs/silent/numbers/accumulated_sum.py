"""Gradients of four batches are summed, not averaged.

source: https://github.com/karpathy/nanoGPT/issues/206
"""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(12):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    loss = nn.functional.cross_entropy(net(x), y)  # OR
    loss.backward()  # WRONG
    #= (loss / 4).backward()
    if (step + 1) % 4 == 0:
        opt.step()
        opt.clear_grad()
