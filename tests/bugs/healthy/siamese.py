"""Both views go through one encoder, and each is the other's fixed target."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(0)
encoder, predictor = nn.Linear(6, 4), nn.Linear(4, 4)
optimizer = paddle.optimizer.Momentum(
    0.05, parameters=[*encoder.parameters(), *predictor.parameters()]
)
for _ in range(3):
    x = paddle.randn([4, 6])
    first, second = encoder(x + 0.1 * paddle.randn(x.shape)), encoder(x)
    loss = -(
        F.cosine_similarity(predictor(first), second.detach()).mean()
        + F.cosine_similarity(predictor(second), first.detach()).mean()
    )
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    spread = paddle.to_tensor(first.numpy().std(axis=0))
    print(float(loss), spread.numpy().mean())
