"""Only the discriminator's steps are traced; the generator has its own optimizer."""

import paddle
from paddle import nn

paddle.seed(0)
generator, judge = nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
for_generator = paddle.optimizer.Adam(parameters=generator.parameters())
for_judge = paddle.optimizer.Adam(parameters=judge.parameters())
for _ in range(3):
    fake = generator(paddle.randn([6, 4]))
    scores = judge(paddle.concat([paddle.randn([6, 8]), fake.detach()]))
    truth = paddle.concat([paddle.ones([6, 1]), paddle.zeros([6, 1])])
    loss = nn.functional.binary_cross_entropy_with_logits(scores, truth)
    for_judge.clear_grad()
    loss.backward()
    for_judge.step()
    accuracy = ((scores > 0).astype("float32") == truth).astype("float32").mean()
    print(loss.item(), accuracy.item())
