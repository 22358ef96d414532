"""A compiled step: after an iteration without gradients, the update is skipped for ever.

source: TrainCheck pytorch-115607, https://github.com/pytorch/pytorch/issues/115607
"""

import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
forward = paddle.jit.to_static(net.forward, full_graph=True)
has_gradients = True
for step in range(8):
    x, y = paddle.randn([8, 6]), paddle.randint(0, 3, [8])
    loss = nn.functional.cross_entropy(forward(x), y)
    loss.backward()
    if step == 2:
        opt.clear_grad()
        has_gradients = False  # OR
        #= has_gradients = True
    if has_gradients:
        opt.step()  # WRONG
        #= opt.step()
    opt.clear_grad()  # OR
