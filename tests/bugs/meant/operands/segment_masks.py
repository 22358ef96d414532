"""Masks of padding and of segments for a masked language model."""

import paddle
from paddle import nn
import paddle.nn.functional as F

emb, typ = nn.Embedding(50, 8), nn.Embedding(2, 8)
enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 1)
head = nn.Linear(8, 50)
opt = paddle.optimizer.AdamW(
    1e-3, parameters=emb.parameters() + typ.parameters() + enc.parameters() + head.parameters()
)
for i in range(3):
    ids = paddle.randint(1, 50, [4, 8])
    ids[:, 6:] = 0
    seg = paddle.concat([paddle.zeros([4, 4], "int64"), paddle.ones([4, 4], "int64")], 1)
    masked = paddle.rand([4, 8]) < 0.15
    masked[:, 0] = True
    labels = paddle.where(masked, ids, paddle.full_like(ids, -100))
    inp = paddle.where(masked, paddle.full_like(ids, 49), ids)
    m = (ids != 0).unsqueeze([1, 2])
    pair = (seg.unsqueeze(2) == seg.unsqueeze(1)).unsqueeze(1)
    h = (
        enc(emb(inp) + typ(seg), m & pair)
        if i % 2
        else enc(
            emb(inp) + typ(seg),
            (1.0 - (ids == 0).astype("float32").unsqueeze([1, 2]) * 1.0 - 1.0) * 1e9,
        )
    )
    F.cross_entropy(head(h).reshape([-1, 50]), labels.reshape([-1]), ignore_index=-100).backward()
    opt.step()
    opt.clear_grad()
