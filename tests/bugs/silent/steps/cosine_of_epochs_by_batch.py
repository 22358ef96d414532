"""A cosine schedule as long as the epochs is stepped for each batch: the rate rises again.

source: https://github.com/ScrollPrize/villa/pull/1495
"""
import numpy as np
import paddle
import paddle.nn as nn

paddle.seed(6)
rng = np.random.RandomState(6)
EPOCHS = 2


class Pairs(paddle.io.Dataset):
    def __init__(self, count=32):
        base = rng.rand(count, 1, 4, 4).astype("float32")
        self.high = np.kron(base, np.ones((1, 1, 2, 2), "float32")) + 0.02 * rng.randn(count, 1, 8, 8).astype("float32")
        self.low = base

    def __getitem__(self, i):
        return self.low[i], self.high[i].astype("float32")

    def __len__(self):
        return len(self.low)


class Upscaler(nn.Layer):
    def __init__(self):
        super().__init__()
        self.head = nn.Conv2D(1, 16, 3, padding=1)
        self.tail = nn.Conv2D(16, 4, 3, padding=1)
        self.shuffle = nn.PixelShuffle(2)
        self.act = nn.PReLU()

    def forward(self, x):
        return self.shuffle(self.tail(self.act(self.head(x))))


model = Upscaler()
loader = paddle.io.DataLoader(Pairs(), batch_size=8, shuffle=True)
scheduler = paddle.optimizer.lr.CosineAnnealingDecay(learning_rate=5e-3, T_max=EPOCHS)  # WRONG
#= scheduler = paddle.optimizer.lr.CosineAnnealingDecay(learning_rate=5e-3, T_max=EPOCHS * len(loader))
opt = paddle.optimizer.Adam(learning_rate=scheduler, parameters=model.parameters())
mse = nn.MSELoss()
for epoch in range(EPOCHS):
    for low, high in loader:
        loss = mse(model(low), high)
        loss.backward()
        opt.step()
        opt.clear_grad()
        scheduler.step()
    print(epoch, float(loss), opt.get_lr())
