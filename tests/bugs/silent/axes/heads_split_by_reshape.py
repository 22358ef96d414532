"""Attention heads are split without the transpose."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)


class Attention(nn.Layer):
    def __init__(self, width=16, heads=2):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))

    def split(self, x):
        b, t, c = x.shape
        return x.reshape([b, self.heads, t, c // self.heads])  # WRONG
        #= return x.reshape([b, t, self.heads, c // self.heads]).transpose([0, 2, 1, 3])

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        weights = F.softmax(q @ k.transpose([0, 1, 3, 2]) / 8**0.5)
        return (weights @ v).transpose([0, 2, 1, 3]).reshape([b, t, c])


net, head = Attention(), nn.Linear(16, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters() + head.parameters())
for step in range(4):
    x, y = paddle.randn([4, 7, 16]), paddle.randint(0, 3, [4])
    loss = F.cross_entropy(head(net(x).mean(axis=1)), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
