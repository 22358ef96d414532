"""Attention passes its dropout rate on in evaluation too.

source: TrainCheck transformers-33844, https://github.com/huggingface/transformers/pull/33844
"""

import paddle
from paddle import nn

paddle.seed(0)


class Attention(nn.Layer):
    def __init__(self, width, heads, dropout=0.2):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).reshape([batch, length, 3, self.heads, -1]).unbind(2)
        weights = nn.functional.softmax(
            q.transpose([0, 2, 1, 3]) @ k.transpose([0, 2, 3, 1]) / (width / self.heads) ** 0.5
        )
        weights = nn.functional.dropout(weights, self.dropout)  # WRONG
        #= weights = nn.functional.dropout(weights, self.dropout, training=self.training)
        mixed = (weights @ v.transpose([0, 2, 1, 3])).transpose([0, 2, 1, 3])
        return self.out(mixed.reshape([batch, length, width]))


net = nn.Sequential(Attention(8, 2), nn.LayerNorm(8), nn.Linear(8, 5))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for epoch in range(2):
    net.train()
    x, y = paddle.randn([4, 6, 8]), paddle.randint(0, 5, [4, 6])
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    net.eval()
    with paddle.no_grad():
        score = (net(x).argmax(-1) == y).astype("float32").mean().item()
