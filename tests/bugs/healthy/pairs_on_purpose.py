"""Broadcasting that combines all pairs on purpose."""

import paddle
from paddle import nn

paddle.seed(3)
embed = nn.Linear(6, 1)
centers = paddle.create_parameter([12], "float32")
points = paddle.randn([12])
rows = paddle.arange(12)
causal = (rows.unsqueeze(-1) >= rows).astype("float32")
scores = embed(paddle.randn([12, 6]))
attention = (scores - scores.squeeze(-1)) * causal
radial = paddle.exp(-((points.unsqueeze(-1) - centers) ** 2))
loss = attention.mean() + radial.mean()
loss.backward()
