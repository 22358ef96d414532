"""A function that embeds tokens has a decorator for inference, but is used in training."""

import paddle
from paddle import nn

paddle.seed(0)
table = nn.Embedding(20, 8)
project = nn.Linear(8, 20)


@paddle.no_grad()
def embed(tokens):
    vectors = table(tokens)  # BUG: gradient-cut
    return vectors.mean(axis=1)


def train(steps):
    optimizer = paddle.optimizer.SGD(
        0.1, parameters=[{"params": table.parameters()}, {"params": project.parameters()}]
    )
    for _ in range(steps):
        tokens = paddle.randint(0, 20, [4, 5])
        loss = nn.functional.cross_entropy(project(embed(tokens)), tokens[:, 0])
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()


train(2)
