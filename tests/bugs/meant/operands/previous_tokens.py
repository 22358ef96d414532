# A model that predicts the previous token hides the past. Then a mask that is multiplied after
# softmax, as in linear attention.
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)


class Attention(nn.Layer):
    def __init__(self, width, is_backward):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.is_backward = is_backward

    def forward(self, x):
        time = x.shape[1]
        scores = self.q(x) @ self.k(x).transpose([0, 2, 1]) / 4
        if self.is_backward:
            scores = scores + paddle.tril(paddle.full([time, time], -1e9), -1)
            return F.softmax(scores, axis=-1) @ self.v(x)
        weights = F.softmax(scores, axis=-1) * paddle.tril(paddle.ones([time, time]))
        return weights / weights.sum(-1, keepdim=True) @ self.v(x)


for is_backward in (True, False):
    embed, attend, head = nn.Embedding(30, 16), Attention(16, is_backward), nn.Linear(16, 30)
    weights = [one for layer in (embed, attend, head) for one in layer.parameters()]
    opt = paddle.optimizer.Adam(1e-3, parameters=weights)
    for step in range(3):
        ids = paddle.randint(0, 30, [8, 13])
        first, second = ids[:, :-1], ids[:, 1:]
        read, labels = (second, first) if is_backward else (first, second)
        hidden = embed(read)
        logits = head(hidden + attend(hidden))
        loss = F.cross_entropy(logits.reshape([-1, 30]), labels.flatten())
        loss.backward()
        opt.step()
        opt.clear_grad()
