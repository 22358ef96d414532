"""Blocks are in a plain dict: the model registers only its embedding and its head."""

import paddle
from paddle import nn


class Block(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Sequential(nn.Linear(width, width), nn.GELU())

    def forward(self, x):
        return x + self.inner(self.norm(x))


class Tagger(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 6)
        self.blocks = {}
        for name in ("first", "second"):
            self.blocks[name] = Block(6)  # BUG: untrained-parameter
        self.out = nn.Linear(6, 3)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks.values():
            x = block(x)
        return self.out(x)


paddle.seed(51)
model = Tagger()
optimizer = paddle.optimizer.AdamW(0.01, parameters=model.parameters())
for _ in range(2):
    scores = model(paddle.randint(0, 20, [4, 5]))
    loss = nn.functional.cross_entropy(scores, paddle.randint(0, 3, [4, 5]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
