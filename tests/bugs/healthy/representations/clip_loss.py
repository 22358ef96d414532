"""CLIP: images and texts in one space, with a symmetric loss over all pairs of a batch."""

import math

import paddle
from paddle import nn
from paddle.nn import functional as F


class TwoTowers(nn.Layer):
    def __init__(self):
        super().__init__()
        self.image = nn.Sequential(
            nn.Conv2D(3, 8, 3, stride=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool2D(2),
            nn.Flatten(),
            nn.Linear(32, 24),
        )
        self.words = nn.Embedding(60, 24, padding_idx=0)
        self.text = nn.LSTM(24, 24)
        self.scale = self.create_parameter(
            [1], default_initializer=nn.initializer.Constant(math.log(14.0))
        )

    def forward(self, image, text):
        image = F.normalize(self.image(image), axis=-1)
        lengths = (text != 0).sum(-1)
        _, (hidden, _) = self.text(self.words(text), sequence_length=lengths)
        return self.scale.exp().clip(max=100) * image @ F.normalize(hidden[-1], axis=-1).T


paddle.seed(21)
net = TwoTowers()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
for _ in range(3):
    images, texts = paddle.randn([16, 3, 16, 16]), paddle.randint(1, 60, [16, 7])
    texts[8:, 5:] = 0
    logits, pairs = net(images, texts), paddle.arange(16)
    loss = (F.cross_entropy(logits, pairs) + F.cross_entropy(logits.T, pairs)) / 2
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    with paddle.no_grad():
        print((logits.argmax(1) == pairs).astype("float32").mean().item())
