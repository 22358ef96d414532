"""Micro-batches are summed; the labels have the shape of a norm's weight.

source: https://huggingface.co/blog/gradient_accumulation
"""
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(20)
rng = np.random.RandomState(20)
ACCUMULATE = 4
x = rng.randn(96, 12).astype("float32")
y = np.argmax(x @ rng.randn(12, 4), axis=1).astype("int64")
loader = paddle.io.DataLoader(
    paddle.io.TensorDataset([paddle.to_tensor(x), paddle.to_tensor(y)]), batch_size=12, shuffle=True
)


class Classifier(nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(12)
        self.up = nn.Linear(12, 48)
        self.down = nn.Linear(48, 4)

    def forward(self, x):
        return self.down(F.gelu(self.up(self.norm(x))))


model = Classifier()
opt = paddle.optimizer.SGD(0.2, parameters=model.parameters())
model.train()
for epoch in range(2):
    for i, (bx, by) in enumerate(loader):
        loss = F.cross_entropy(model(bx), by)
        loss.backward()  # WRONG
        #= (loss / ACCUMULATE).backward()
        if (i + 1) % ACCUMULATE == 0:
            opt.step()
            opt.clear_grad()
    print(epoch, float(loss))
