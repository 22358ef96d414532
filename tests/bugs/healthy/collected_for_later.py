"""Lists of tensors that are intended: batches made in advance, features, outputs to concatenate."""

import paddle


class Pyramid(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = paddle.nn.LayerList([paddle.nn.Linear(16, 16) for _ in range(4)])

    def forward(self, x):
        features = []
        for block in self.blocks:
            x = paddle.tanh(block(x)) + x
            features.append(x)
        return features


paddle.seed(3)
pyramid = Pyramid()
data = []
for _ in range(4):
    x = paddle.randn([32, 16]) * 2
    data.append((x, x.sum(axis=1)))
with paddle.no_grad():
    features = pyramid(data[0][0])
    logits = []
    for x, _ in data:
        logits.append(pyramid(x)[-1])
predictions = paddle.concat(logits)

keys = paddle.zeros([1, 0, 16])
with paddle.no_grad():
    for _ in range(4):
        keys = paddle.concat([keys, pyramid.blocks[0](paddle.randn([1, 1, 16]))], axis=1)

average = {name: value.detach().clone() for name, value in pyramid.state_dict().items()}
optimizer = paddle.optimizer.AdamW(0.01, parameters=pyramid.parameters())
losses = []
for x, target in data:
    loss = (pyramid(x)[-1].sum(axis=1) - target).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    losses.append(loss.detach())
    with paddle.no_grad():
        for name, value in pyramid.state_dict().items():
            average[name] = average[name] * 0.9 + value * 0.1
