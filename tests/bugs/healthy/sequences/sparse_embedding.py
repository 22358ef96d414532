"""Word vectors with negative samples: sparse gradients of large tables."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(25)
centers = nn.Embedding(500, 32, sparse=True)
contexts = nn.Embedding(500, 32, sparse=True)
optimizer = paddle.optimizer.Adam(
    0.01, parameters=[*centers.parameters(), *contexts.parameters()], lazy_mode=True
)
for _ in range(4):
    center, context = paddle.randint(0, 500, [64]), paddle.randint(0, 500, [64])
    negatives = paddle.randint(0, 500, [64, 5])
    vector = centers(center)
    near = (vector * contexts(context)).sum(-1)
    far = paddle.bmm(contexts(negatives), vector.unsqueeze(-1)).squeeze(-1)
    loss = -(F.log_sigmoid(near) + F.log_sigmoid(-far).sum(-1)).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
with paddle.no_grad():
    table = F.normalize(centers.weight, axis=-1)
    print((table[:5] @ table.T).topk(3, axis=-1)[1])
