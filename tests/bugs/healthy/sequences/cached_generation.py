"""Text generation token by token, with a growing cache of keys and values."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class Attention(nn.Layer):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, cache=None):
        batch, length, width = x.shape
        qkv = self.qkv(x).reshape([batch, length, 3, self.heads, width // self.heads])
        q, k, v = qkv.transpose([2, 0, 3, 1, 4]).unbind(0)
        if cache is not None:
            k, v = paddle.concat([cache[0], k], 2), paddle.concat([cache[1], v], 2)
        scores = q @ k.transpose([0, 1, 3, 2]) / (width // self.heads) ** 0.5
        mixed = F.softmax(scores, -1) @ v
        return self.out(mixed.transpose([0, 2, 1, 3]).reshape([batch, length, width])), (k, v)


paddle.seed(38)
embedding, layers = nn.Embedding(50, 32), nn.LayerList([Attention() for _ in range(2)])
out = nn.Linear(32, 50)


@paddle.no_grad()
def write(prompt, count=8):
    caches, tokens, steps = [None] * len(layers), [prompt], []
    x = embedding(prompt)
    for _ in range(count):
        for place, layer in enumerate(layers):
            mixed, caches[place] = layer(x, caches[place])
            x = x + mixed
        logits = out(x[:, -1])
        kept = logits.topk(5, axis=-1)[0][:, -1:]
        logits = paddle.where(logits < kept, paddle.full_like(logits, -float("inf")), logits)
        token = paddle.multinomial(F.softmax(logits, -1), 1)
        tokens.append(token)
        steps.append(F.log_softmax(logits, -1).take_along_axis(token, -1))
        x = embedding(token)
    return paddle.concat(tokens, 1), paddle.concat(steps, 1).sum(1)


text, score = write(paddle.randint(0, 50, [2, 6]))
print(text.shape, score)
