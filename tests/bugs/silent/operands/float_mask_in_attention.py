"""A padding mask as float: MultiHeadAttention adds it, only boolean and integer ones are kept out.

source: https://github.com/pytorch/pytorch/issues/21518
"""
import numpy as np
import paddle
from paddle import nn

paddle.seed(0)
attention, head = nn.MultiHeadAttention(16, 2), nn.Linear(16, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=attention.parameters() + head.parameters())
lengths = np.array([5, 3, 4, 2])
keep = (np.arange(5)[None] < lengths[:, None])[:, None, None, :]
mask = paddle.to_tensor(keep.astype("float32"))
#= mask = paddle.to_tensor(keep)
for step in range(4):
    x, y = paddle.randn([4, 5, 16]), paddle.randint(0, 3, [4])
    out = attention(x, x, x, attn_mask=mask)  # WRONG
    #= out = attention(x, x, x, attn_mask=mask)
    loss = nn.functional.cross_entropy(head(out.mean(axis=1)), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
