"""Seq2seq decoder: the loss of each step replaces the sum instead of joining it."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(6)


class Decoder(nn.Layer):
    def __init__(self, v=30, d=24):
        super().__init__()
        self.embed, self.cell, self.out = nn.Embedding(v, d), nn.GRUCell(d, d), nn.Linear(d, v)

    def forward(self, token, state):
        h, state = self.cell(self.embed(token), state)
        return self.out(h), state


enc_embed, enc = nn.Embedding(30, 24), nn.GRU(24, 24)
dec = Decoder()
opt = paddle.optimizer.Adam(1e-3, parameters=[*enc_embed.parameters(), *enc.parameters(), *dec.parameters()])
for step in range(3):
    src, tgt = paddle.randint(1, 30, [8, 7]), paddle.randint(1, 30, [8, 6])
    state = enc(enc_embed(src))[1][0]
    token = paddle.ones([8], dtype="int64")
    loss = 0.0
    for t in range(6):
        logits, state = dec(token, state)
        loss = F.cross_entropy(logits, tgt[:, t])  # WRONG
        #= loss = loss + F.cross_entropy(logits, tgt[:, t])
        token = tgt[:, t]
    loss.backward()
    opt.step()
    opt.clear_grad()
