"""Truncated backpropagation through time: each part gets the previous state, detached."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class Language(nn.Layer):
    def __init__(self, words=30, width=32):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, width, num_layers=2, dropout=0.2)
        self.out = nn.Linear(width, words)

    def forward(self, tokens, state=None):
        outputs, state = self.rnn(self.embedding(tokens), state)
        return self.out(outputs), state


paddle.seed(24)
net = Language()
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
text = paddle.randint(0, 30, [8, 61])
for _ in range(2):
    state = None
    for start in range(0, 60, 12):
        if state is not None:
            state = tuple(part.detach() for part in state)
        logits, state = net(text[:, start : start + 12], state)
        loss = F.cross_entropy(logits.flatten(0, 1), text[:, start + 1 : start + 13].flatten())
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
net.eval()
token, state, written = text[:1, :1], None, []
with paddle.no_grad():
    for _ in range(8):
        logits, state = net(token, state)
        token = logits[:, -1].argmax(-1, keepdim=True)
        written.append(int(token))
print(written)
