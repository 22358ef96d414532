"""A mixture of experts: each token goes to two of four, with a loss that balances them."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class Experts(nn.Layer):
    def __init__(self, width=16, count=4):
        super().__init__()
        self.gate = nn.Linear(width, count)
        self.experts = nn.LayerList(
            [
                nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.Linear(32, width))
                for _ in range(count)
            ]
        )
        self.balance = None

    def forward(self, x):
        chances = F.softmax(self.gate(x), axis=-1)
        weights, chosen = paddle.topk(chances, 2)
        weights = weights / weights.sum(-1, keepdim=True)
        share = F.one_hot(chosen[:, 0], len(self.experts)).mean(0)
        self.balance = len(self.experts) * (share * chances.mean(0)).sum()
        out = paddle.zeros_like(x)
        for number, expert in enumerate(self.experts):
            rows, slot = paddle.where(chosen == number)
            if rows.shape[0] == 0:
                continue
            rows, slot = rows.flatten(), slot.flatten()
            part = expert(x[rows]) * weights[rows, slot].unsqueeze(-1)
            out = paddle.scatter(out, rows, part, overwrite=False)
        return out


paddle.seed(26)
net = nn.Sequential(nn.Linear(8, 16), Experts(), nn.LayerNorm(16), Experts(), nn.Linear(16, 3))
optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
for _ in range(3):
    x, y = paddle.randn([64, 8]), paddle.randint(0, 3, [64])
    loss = F.cross_entropy(net(x), y)
    loss = loss + 0.01 * sum(layer.balance for layer in net if isinstance(layer, Experts))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
