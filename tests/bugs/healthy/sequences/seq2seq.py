"""Translation with a decoder loop: teacher forcing in training, greedy search afterwards."""

import random

import paddle
from paddle import nn
from paddle.nn import functional as F

PAD, START, END, WORDS = 0, 1, 2, 40


class Encoder(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, width, padding_idx=PAD)
        self.rnn = nn.GRU(width, width, direction="bidirect")
        self.bridge = nn.Linear(2 * width, width)

    def forward(self, source):
        outputs, state = self.rnn(self.embedding(source))
        joined = paddle.concat([state[0], state[1]], axis=-1)
        return outputs, paddle.tanh(self.bridge(joined))


class Decoder(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, width, padding_idx=PAD)
        self.attention = nn.Linear(3 * width, 1)
        self.cell = nn.GRUCell(3 * width, width)
        self.out = nn.Linear(width, WORDS)

    def forward(self, token, state, memory):
        length = memory.shape[1]
        query = state.unsqueeze(1).expand([-1, length, -1])
        weights = F.softmax(self.attention(paddle.concat([query, memory], -1)), axis=1)
        context = (weights * memory).sum(1)
        output, state = self.cell(paddle.concat([self.embedding(token), context], -1), state)
        return self.out(output), state


class Translator(nn.Layer):
    def __init__(self, width=32):
        super().__init__()
        self.encoder, self.decoder = Encoder(width), Decoder(width)

    def forward(self, source, target, forcing=0.5):
        memory, state = self.encoder(source)
        token, logits = target[:, 0], []
        for t in range(1, target.shape[1]):
            step, state = self.decoder(token, state, memory)
            logits.append(step)
            token = target[:, t] if random.random() < forcing else step.argmax(-1)
        return paddle.stack(logits, axis=1)

    @paddle.no_grad()
    def translate(self, source, longest=8):
        memory, state = self.encoder(source)
        token = paddle.full([source.shape[0]], START, dtype="int64")
        tokens, finished = [], paddle.zeros([source.shape[0]], dtype="bool")
        while len(tokens) < longest and not bool(finished.all()):
            logits, state = self.decoder(token, state, memory)
            token = paddle.where(finished, paddle.full_like(token, PAD), logits.argmax(-1))
            finished = finished | (token == END)
            tokens.append(token)
        return paddle.stack(tokens, axis=1)


random.seed(0)
paddle.seed(3)
net = Translator()
optimizer = paddle.optimizer.Adam(
    1e-3, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0)
)
source, target = paddle.randint(3, WORDS, [8, 7]), paddle.randint(3, WORDS, [8, 6])
target[:, 0] = START
target[:4, 4:] = PAD
for _ in range(3):
    logits = net(source, target)
    loss = F.cross_entropy(logits.reshape([-1, WORDS]), target[:, 1:].flatten(), ignore_index=PAD)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print(loss.item())
net.eval()
print(net.translate(source).shape)
