"""A language model whose output layer shares the embedding's weights; text is sampled."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class Block(nn.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiHeadAttention(width, heads, dropout=0.1)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x, mask):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, attn_mask=mask)
        return x + self.mlp(self.norm2(x))


class GPT(nn.Layer):
    def __init__(self, words=50, width=32, length=16):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.LayerList([Block(width, 4) for _ in range(2)])
        self.norm = nn.LayerNorm(width)
        mask = paddle.triu(paddle.full([length, length], -1e9), 1)
        self.register_buffer("mask", mask, persistable=False)

    def forward(self, tokens):
        length = tokens.shape[1]
        x = self.tokens(tokens) + self.positions(paddle.arange(length))
        for block in self.blocks:
            x = block(x, self.mask[:length, :length])
        return paddle.matmul(self.norm(x), self.tokens.weight, transpose_y=True)


paddle.seed(14)
net = GPT()
optimizer = paddle.optimizer.AdamW(
    1e-3, parameters=net.parameters(), apply_decay_param_fun=lambda name: "norm" not in name
)
for _ in range(3):
    text = paddle.randint(0, 50, [8, 13])
    logits = net(text[:, :-1])
    loss = F.cross_entropy(logits.reshape([-1, 50]), text[:, 1:].reshape([-1]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print(f"perplexity {loss.exp().item():.1f}")
net.eval()
text = paddle.zeros([1, 1], dtype="int64")
with paddle.no_grad():
    for _ in range(6):
        chances = F.softmax(net(text)[:, -1] / 0.8, axis=-1)
        text = paddle.concat([text, paddle.multinomial(chances, 1)], axis=1)
print(text)
