"""A softmax written by hand overflows if a score is larger than 88."""

import paddle


def softmax(scores):
    weights = paddle.exp(scores)  # BUG: nan-origin
    return weights / weights.sum(axis=-1, keepdim=True)


class Attention(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.query = paddle.nn.Linear(8, 8)
        self.key = paddle.nn.Linear(8, 8)

    def forward(self, x):
        scores = 100 * self.query(x) @ self.key(x).T
        return softmax(scores) @ x


paddle.seed(3)
attention = Attention()
out = attention(3 * paddle.randn([6, 8]))
loss = out.square().mean()
loss.backward()
