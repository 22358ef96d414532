"""The state is reset before backward: set_value raises nothing, and the gradient is wrong."""

import numpy as np
import paddle

paddle.seed(6)
cell = paddle.nn.Linear(3, 3)
state = cell(paddle.randn([2, 3]))
energy = (state**3).sum()
state.set_value(np.zeros([2, 3], "float32"))  # BUG: inplace-modified
energy.backward()
