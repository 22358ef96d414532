"""A tagger: class 0 ("other") is a real class, the padding is -100; and the hidden mask is a boolean."""
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(37)
rng = np.random.RandomState(37)


class Tags(paddle.io.Dataset):
    def __init__(self, count=48, longest=9):
        self.x = np.zeros((count, longest), "int64")
        self.y = np.full((count, longest), -100, "int64")
        for i in range(count):
            n = rng.randint(4, longest + 1)
            self.x[i, :n] = rng.randint(1, 30, n)
            self.y[i, :n] = np.where(self.x[i, :n] % 5 == 0, 1, 0)

    def __getitem__(self, i):
        return self.x[i], self.y[i]

    def __len__(self):
        return len(self.x)


class Tagger(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 24, padding_idx=0)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(24, 4, 48), 1)
        self.out = nn.Linear(24, 2)

    def forward(self, x):
        mask = (x != 0).unsqueeze([1, 2])
        return self.out(self.encoder(self.embed(x), mask))


model = Tagger()
opt = paddle.optimizer.Adam(2e-3, parameters=model.parameters())
for epoch in range(2):
    for x, y in paddle.io.DataLoader(Tags(), batch_size=12, shuffle=True):
        loss = F.cross_entropy(model(x), y, ignore_index=-100)
        loss.backward()
        opt.step()
        opt.clear_grad()
    print(epoch, float(loss))
