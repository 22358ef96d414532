"""Weights are decayed by hand between the energy and its gradient."""

import paddle

paddle.seed(2)
coupling = paddle.create_parameter([5, 5], "float32")
state = paddle.randn([2, 5])
state.stop_gradient = False


def energy(state):
    field = paddle.matmul(state, coupling)
    return (field.tanh() * 0.5).sum()


total = energy(state)
with paddle.no_grad():
    coupling.scale_(0.99)  # BUG: inplace-modified
(force,) = paddle.grad(total, state)
