"""Two heads share an encoder, and backward is called for each separately."""

import paddle

paddle.seed(8)
encoder = paddle.nn.Linear(4, 8)
heads = [paddle.nn.Linear(8, 2) for _ in range(2)]
code = paddle.tanh(encoder(paddle.randn([3, 4])))  # BUG: backward-failed
for head in heads:
    head(code).square().mean().backward()
