"""A normalisation divides by the sum of a row of zeros."""

import paddle

counts = paddle.to_tensor([[3.0, 1.0, 0.0], [0.0, 0.0, 0.0], [2.0, 2.0, 4.0]])
table = paddle.nn.Embedding(3, 4)
total = counts.sum(axis=1, keepdim=True)
weights = counts / total  # BUG: nan-origin
bag = paddle.matmul(weights, table.weight)
bag.sum().backward()
print(float(bag.sum()))
