"""Gradients are clipped before they are averaged, on one of two replicas: the replicas drift.

source: TrainCheck deepspeed-1801 (BLOOM-176B), https://github.com/microsoft/DeepSpeed/pull/1801
"""

import copy

import paddle
from paddle import nn

paddle.seed(0)
first = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.Tanh(), nn.Linear(16, 3))
second = copy.deepcopy(first)
clip = nn.ClipGradByGlobalNorm(0.05)
one = paddle.optimizer.SGD(0.1, parameters=first.parameters(), grad_clip=clip)  # OR
#- WRONG
two = paddle.optimizer.SGD(0.1, parameters=second.parameters())
#= two = paddle.optimizer.SGD(0.1, parameters=second.parameters(), grad_clip=clip)
for step in range(4):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    for replica, own in ((first, slice(0, 8)), (second, slice(8, 16))):
        nn.functional.cross_entropy(replica(x[own]), y[own]).backward()
    with paddle.no_grad():
        for left, right in zip(first.parameters(), second.parameters()):
            mean = (left.grad + right.grad) / 2
            left.grad.set_value(mean)
            right.grad.set_value(mean)
    one.step()
    two.step()
    one.clear_grad()
    two.clear_grad()
