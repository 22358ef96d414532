"""Codes are rounded or looked up, and gradients skip this op (straight-through)."""

import paddle
from paddle import nn

paddle.seed(0)
encoder, decoder = nn.Linear(4, 6), nn.Linear(6, 4)
book = nn.Embedding(8, 6)
parameters = [*encoder.parameters(), *decoder.parameters(), *book.parameters()]
optimizer = paddle.optimizer.Adam(parameters=parameters)
for _ in range(3):
    x = paddle.randn([5, 4])
    z = encoder(x)
    distance = (z.unsqueeze(1) - book.weight.unsqueeze(0)).square().sum(-1)
    q = book(distance.argmin(-1))
    commitment = (z - q.detach()).square().mean() + (z.detach() - q).square().mean()
    code = z + (q - z).detach()
    rounded = code + (code.round() - code).detach()
    loss = (decoder(rounded) - x).square().mean() + commitment
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print(float(loss), len(set(distance.argmin(-1).numpy().tolist())))
