"""Token numbers above 255 are cast to uint8."""
import numpy as np
import paddle
from paddle import nn

paddle.seed(4); rng = np.random.default_rng(4)
embed, head = nn.Embedding(600, 8), nn.Linear(8, 2)
opt = paddle.optimizer.Adam(0.01, parameters=embed.parameters() + head.parameters())
for step in range(6):
    ids = paddle.to_tensor(rng.integers(0, 600, (16, 5)))
    y = (ids.sum(1) % 2).astype("int64")
    small = ids.astype("uint8")  # WRONG
    #= small = ids
    loss = nn.functional.cross_entropy(head(embed(small.astype("int64")).mean(1)), y)
    loss.backward(); opt.step(); opt.clear_grad()
