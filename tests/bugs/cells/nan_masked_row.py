"""A sentence has only padding: all its keys are masked, so softmax divides by zero."""

import paddle
import paddle.nn.functional as F

paddle.seed(5)
lengths = paddle.to_tensor([4, 0, 2])
project = paddle.nn.Linear(6, 6)
tokens = paddle.randn([3, 4, 6])
hidden = project(tokens)
scores = paddle.bmm(hidden, hidden.transpose([0, 2, 1]))
padding = paddle.arange(4).unsqueeze(0) >= lengths.unsqueeze(1)
scores = paddle.where(padding.unsqueeze(1), paddle.full([], float("-inf")), scores)
attention = F.softmax(scores, axis=-1)  # BUG: nan-origin
mixed = paddle.bmm(attention, hidden)
loss = mixed.mean()
loss.backward()
