"""This batch has no example of the rare class, and the mean of no values is NaN."""

import paddle
import paddle.nn.functional as F

paddle.seed(4)
model = paddle.nn.Linear(6, 3)
inputs, labels = paddle.randn([9, 6]), paddle.to_tensor([0, 1, 1, 0, 0, 1, 0, 1, 0])


def loss_per_class(losses, labels, classes):
    parts = []
    for c in range(classes):
        chosen = losses[labels == c]
        parts.append(chosen.mean())  # BUG: nan-origin
    return paddle.stack(parts).mean()


losses = F.cross_entropy(model(inputs), labels, reduction="none").flatten()
loss = loss_per_class(losses, labels, 3)
loss.backward()
