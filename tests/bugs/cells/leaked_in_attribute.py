"""A layer keeps the features of each batch to draw them later."""

import paddle


class Encoder(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.project = paddle.nn.Linear(16, 32)
        self.seen = []

    def forward(self, x):
        features = paddle.tanh(self.project(x))  # BUG: leaked-tensor
        self.seen.append(features)
        return features.mean(axis=-1)


paddle.seed(34)
encoder = Encoder()
optimizer = paddle.optimizer.AdamW(0.01, parameters=encoder.parameters())
for _ in range(4):
    encoder(paddle.randn([16, 16])).square().mean().backward()
    optimizer.step()
    optimizer.clear_grad()
