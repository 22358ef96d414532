"""The critic's loss is not detached, and its gradients stay in the generator until its step.

source: https://github.com/pytorch/examples/issues/116
"""
import paddle
from paddle import nn

paddle.seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = paddle.optimizer.Adam(1e-3, parameters=generator.parameters())
opt_c = paddle.optimizer.Adam(1e-3, parameters=critic.parameters())
bce = nn.BCEWithLogitsLoss()
ones, zeros = paddle.ones([8, 1]), paddle.zeros([8, 1])
for step in range(4):
    opt_g.clear_grad()
    opt_c.clear_grad()
    fake = generator(paddle.randn([8, 4]))
    #- WRONG
    loss = bce(critic(paddle.randn([8, 2]) + 3), ones) + bce(critic(fake), zeros)
    #= loss = bce(critic(paddle.randn([8, 2]) + 3), ones) + bce(critic(fake.detach()), zeros)
    loss.backward()  # OR
    opt_c.step()
    loss = bce(critic(generator(paddle.randn([8, 4]))), ones)
    loss.backward()
    opt_g.step()  # OR
