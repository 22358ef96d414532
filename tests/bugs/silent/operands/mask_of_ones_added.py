"""A causal mask of zeros and ones, added to the scores."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)
embed, qkv, head = nn.Embedding(20, 16), nn.Linear(16, 48), nn.Linear(16, 20)
params = [*embed.parameters(), *qkv.parameters(), *head.parameters()]
opt = paddle.optimizer.AdamW(1e-3, parameters=params)
mask = paddle.tril(paddle.ones([9, 9]))
for step in range(4):
    ids = paddle.randint(0, 20, [4, 10])
    q, k, v = qkv(embed(ids[:, :-1])).chunk(3, axis=-1)
    scores = paddle.matmul(q, k, transpose_y=True) / 4.0
    scores = scores + mask  # WRONG
    #= scores = scores + (1.0 - mask) * -1e9
    loss = F.cross_entropy(head(F.softmax(scores) @ v), ids[:, 1:])
    loss.backward()
    opt.step()
    opt.clear_grad()
