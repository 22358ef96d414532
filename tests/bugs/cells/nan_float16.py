"""A value that float32 can represent is Inf in float16."""

import paddle

paddle.seed(1)
layer = paddle.nn.Linear(16, 16)
activations = layer(paddle.randn([4, 16])) * 3e5
half = activations.astype("float16")  # BUG: nan-origin
full = half.astype("float32")
centred = full - full.mean(axis=-1, keepdim=True)
loss = centred.abs().mean()
loss.backward()
