"""A language model is trained to predict the token that it reads, not the next one.

source: https://github.com/huggingface/transformers/issues/27517
"""
import paddle
from paddle import nn

paddle.seed(0)


class Decoder(nn.Layer):
    def __init__(self, vocabulary=20, width=8, length=6):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.block = nn.TransformerEncoderLayer(width, 2, 16, dropout=0.0)
        self.head = nn.Linear(width, vocabulary)
        self.mask = paddle.triu(paddle.full([length, length], -1e9), 1)

    def forward(self, ids):
        length = ids.shape[1]
        x = self.words(ids) + self.places(paddle.arange(length))
        return self.head(self.block(x, self.mask[:length, :length]))


net = Decoder()
opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
for step in range(4):
    ids = paddle.randint(0, 20, [4, 6])
    logits = net(ids)  # OR
    #= logits = net(ids[:, :-1])
    #- WRONG
    loss = nn.functional.cross_entropy(logits.reshape([-1, 20]), ids.reshape([-1]))
    #= loss = nn.functional.cross_entropy(logits.reshape([-1, 20]), ids[:, 1:].reshape([-1]))
    loss.backward()
    opt.step()
    opt.clear_grad()
