"""All time steps use one buffer: each step overwrites what the previous step has saved."""

import paddle

paddle.seed(5)
decay = paddle.to_tensor([0.9, 0.8], stop_gradient=False)
inputs = paddle.randn([3, 2])
buffer = paddle.zeros([2])
loss = paddle.zeros([])
for t in range(3):
    paddle.assign(inputs[t], output=buffer)  # BUG: inplace-modified
    loss = loss + (decay * buffer).sum()
loss.backward()
