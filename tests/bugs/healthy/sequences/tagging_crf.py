"""A masked recurrent network with a CRF, whose normalizer is summed step by step."""

import paddle
from paddle import nn

TAGS = 5


class Tagger(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 32, padding_idx=0)
        self.rnn = nn.LSTM(32, 16, direction="bidirect")
        self.out = nn.Linear(32, TAGS)
        self.transitions = self.create_parameter([TAGS, TAGS])

    def loss(self, tokens, tags):
        lengths = (tokens > 0).sum(1)
        hidden, _ = self.rnn(self.embedding(tokens), sequence_length=lengths)
        scores, mask = self.out(hidden), (tokens > 0).astype("float32")
        alpha = scores[:, 0]
        path = scores[:, 0].take_along_axis(tags[:, :1], 1).squeeze(1)
        for t in range(1, tokens.shape[1]):
            summed = paddle.logsumexp(alpha.unsqueeze(2) + self.transitions, axis=1) + scores[:, t]
            keep = mask[:, t : t + 1]
            alpha = keep * summed + (1 - keep) * alpha
            step = scores[:, t].take_along_axis(tags[:, t : t + 1], 1).squeeze(1)
            step = step + self.transitions[tags[:, t - 1], tags[:, t]]
            path = path + mask[:, t] * step
        return (paddle.logsumexp(alpha, axis=1) - path).mean()


paddle.seed(45)
net = Tagger()
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
tokens, tags = paddle.randint(1, 30, [8, 6]), paddle.randint(0, TAGS, [8, 6])
tokens[4:, 4:] = 0
for _ in range(3):
    loss = net.loss(tokens, tags)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print(loss.item())
