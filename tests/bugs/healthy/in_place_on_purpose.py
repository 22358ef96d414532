"""In-place changes that backward allows: before saving, after backward, or of unsaved tensors."""

import numpy as np
import paddle
from paddle.nn import functional as F

paddle.seed(1)
net = paddle.nn.Linear(4, 4)
mask = paddle.zeros([3, 4])
for _ in range(3):
    hidden = net(paddle.randn([3, 4]))
    hidden.add_(paddle.ones([3, 4]))
    hidden = F.relu_(hidden)
    shifted = hidden + 1.0
    shifted.scale_(2.0)
    mask[0] = 1.0
    loss = (shifted * mask).sum()
    loss.backward()
    mask.zero_()
    shifted.zero_()
    with paddle.no_grad():
        for parameter in net.parameters():
            parameter.subtract_(0.01 * parameter.grad)
    net.clear_gradients()
net.weight.set_value(np.ones([4, 4], "float32"))
