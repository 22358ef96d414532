"""Paddle has no operator for `+=`, so add_ is used, on the output of tanh."""

import paddle


def residual(x, layers):
    for layer in layers:
        hidden = paddle.tanh(layer(x))
        x = hidden.add_(x)  # BUG: inplace-modified
    return x


paddle.seed(4)
layers = [paddle.nn.Linear(4, 4) for _ in range(3)]
residual(paddle.randn([2, 4]), layers).mean().backward()
