"""A function defined above resets weights after backward, which no longer needs them."""

import numpy as np
import paddle


def renew(layer):
    layer.weight.set_value(np.ones([3, 1], "float32"))
    layer.clear_gradients()


paddle.seed(4)
first, last = paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 1)
loss = last(first(paddle.randn([2, 3])).tanh()).square().mean()
loss.backward()
renew(last)
