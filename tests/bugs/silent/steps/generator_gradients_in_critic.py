"""The critic is cleared after its own step only, so the generator's loss leaves gradients in it."""
import paddle
from paddle import nn

paddle.seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
critic = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = paddle.optimizer.Adam(1e-3, parameters=generator.parameters())
opt_c = paddle.optimizer.Adam(1e-3, parameters=critic.parameters())
bce = nn.BCEWithLogitsLoss()
ones, zeros = paddle.ones([8, 1]), paddle.zeros([8, 1])
for step in range(4):
    fake = generator(paddle.randn([8, 4]))
    loss = bce(critic(paddle.randn([8, 3]) + 3), ones) + bce(critic(fake.detach()), zeros)
    #+ opt_c.clear_grad()
    loss.backward()
    opt_c.step()  # WRONG
    #= opt_c.step()
    opt_c.clear_grad()
    bce(critic(fake), ones).backward()
    opt_g.step()
    opt_g.clear_grad()
