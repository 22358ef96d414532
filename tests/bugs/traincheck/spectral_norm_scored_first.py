"""A critic with spectral norm is scored before training: each score changes the estimate.

source: TrainCheck pytorch-51800, https://github.com/pytorch/pytorch/issues/51800
"""

import paddle
from paddle import nn

paddle.seed(0)
critic = nn.Sequential(
    nn.utils.spectral_norm(nn.Linear(8, 32)), nn.ReLU(), nn.utils.spectral_norm(nn.Linear(32, 1))
)
real = paddle.randn([64, 8])
critic.eval()
with paddle.no_grad():
    #- WRONG
    before = critic(real).mean().item()
    #= critic.train(); [critic(real) for _ in range(5)]; critic.eval(); before = critic(real).mean().item()
critic.train()
opt = paddle.optimizer.Adam(1e-3, parameters=critic.parameters())
for step in range(4):
    fake = paddle.randn([64, 8]) + 1.0
    loss = critic(fake).mean() - critic(real).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
print(before, loss.item())
