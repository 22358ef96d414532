"""The padding mask has the axis of the keys last but one: it hides queries, and no key.

source: https://github.com/hyunwoongko/transformer/pull/40
"""
import paddle
from paddle import nn

paddle.seed(0)


class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 8, padding_idx=0)
        self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, ids):
        x = self.words(ids)
        scores = self.q(x) @ self.k(x).transpose([0, 2, 1]) / 8**0.5
        keep = (ids != 0).unsqueeze(2)  # OR
        #= keep = (ids != 0).unsqueeze(1)
        scores = paddle.where(keep, scores, paddle.full([1], -1e4))  # WRONG
        #= scores = paddle.where(keep, scores, paddle.full([1], -1e4))
        return self.head((nn.functional.softmax(scores) @ self.v(x)).mean(1))


net = Encoder()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    ids = paddle.randint(1, 20, [4, 6])
    ids[:, 4:] = 0
    loss = nn.functional.cross_entropy(net(ids), paddle.randint(0, 3, [4]))
    loss.backward()
    opt.step()
    opt.clear_grad()
