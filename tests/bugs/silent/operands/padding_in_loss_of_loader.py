"""A loader gives tokens and the next tokens apart, and the loss counts the padding.

source: https://github.com/lukas-blecher/LaTeX-OCR/issues/305
"""
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(3)
rng = np.random.RandomState(3)
PAD, VOCAB, WIDTH = 0, 24, 32


class Receipts(paddle.io.Dataset):
    def __init__(self, count=64, longest=12):
        self.rows = []
        for _ in range(count):
            n = rng.randint(3, longest)
            start = rng.randint(1, VOCAB - 1)
            row = np.full(longest, PAD, dtype="int64")
            row[:n] = (start + np.arange(n) - 1) % (VOCAB - 1) + 1
            self.rows.append(row)

    def __getitem__(self, i):
        return self.rows[i][:-1], self.rows[i][1:]

    def __len__(self):
        return len(self.rows)


class Decoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH, padding_idx=PAD)
        self.rnn = nn.GRU(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, tokens):
        states, _ = self.rnn(self.embed(tokens))
        return self.head(states)


model = Decoder()
opt = paddle.optimizer.Adam(learning_rate=3e-3, parameters=model.parameters())
loader = paddle.io.DataLoader(Receipts(), batch_size=16, shuffle=True)
for epoch in range(2):
    for tokens, following in loader:
        logits = model(tokens)
        loss = F.cross_entropy(logits.reshape([-1, VOCAB]), following.reshape([-1]))  # WRONG
        #= loss = F.cross_entropy(logits.reshape([-1, VOCAB]), following.reshape([-1]), ignore_index=PAD)
        loss.backward()
        opt.step()
        opt.clear_grad()
    print(epoch, float(loss))
