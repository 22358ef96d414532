"""An index out of range: a GPU reports it much later, as an illegal address."""

import paddle

table = paddle.rand([10, 4])
rows = paddle.to_tensor([1, 2, 1_000_000])
picked = paddle.nn.functional.embedding(rows, table)  # BUG: cuda-error
later = [(picked * number).sum() for number in range(20)]
assert float(sum(later)) > 0
