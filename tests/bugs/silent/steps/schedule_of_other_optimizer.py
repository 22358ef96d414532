"""Both optimizers have the schedule of the generator."""
import paddle
from paddle import nn

paddle.seed(5)
gen, disc = nn.Linear(4, 6), nn.Linear(6, 1)
s_g = paddle.optimizer.lr.ExponentialDecay(0.01, gamma=0.5)
s_d = paddle.optimizer.lr.ExponentialDecay(0.02, gamma=0.5)
opt_g = paddle.optimizer.Adam(s_g, parameters=gen.parameters())
opt_d = paddle.optimizer.Adam(s_g, parameters=disc.parameters())  # WRONG
#= opt_d = paddle.optimizer.Adam(s_d, parameters=disc.parameters())
for step in range(6):
    fake = gen(paddle.randn([8, 4]))
    loss = nn.functional.softplus(disc(fake.detach())).mean() + nn.functional.softplus(-disc(paddle.randn([8, 6]))).mean()
    opt_d.clear_grad(); loss.backward(); opt_d.step()
    loss = nn.functional.softplus(-disc(fake)).mean()
    opt_g.clear_grad(); loss.backward(); opt_g.step()
    s_g.step(); s_d.step()
