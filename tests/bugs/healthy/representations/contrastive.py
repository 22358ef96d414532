"""Contrastive learning: two views of each image, a queue of negatives, a temperature."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(20)
encoder = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32))
momentum_encoder = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32))
momentum_encoder.set_state_dict(encoder.state_dict())
for parameter in momentum_encoder.parameters():
    parameter.stop_gradient = True
optimizer = paddle.optimizer.Momentum(0.03, parameters=encoder.parameters())
queue, place = F.normalize(paddle.randn([96, 32]), axis=1), 0
for _ in range(4):
    image = paddle.randn([32, 32])
    query = F.normalize(encoder(image + 0.1 * paddle.randn(image.shape)), axis=1)
    with paddle.no_grad():
        for slow, fast in zip(momentum_encoder.parameters(), encoder.parameters(), strict=True):
            paddle.assign(slow * 0.99 + fast * 0.01, slow)
        key = F.normalize(momentum_encoder(image + 0.1 * paddle.randn(image.shape)), axis=1)
    positive = (query * key).sum(1, keepdim=True)
    negative = query @ queue.detach().clone().T
    logits = paddle.concat([positive, negative], axis=1) / 0.07
    loss = F.cross_entropy(logits, paddle.zeros([32], dtype="int64"))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    queue[place : place + 32] = key
    place = (place + 32) % 96
