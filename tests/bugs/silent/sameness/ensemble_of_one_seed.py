"""An ensemble whose members are all made with the same seed."""
import paddle
import paddle.nn.functional as F
from paddle import nn


def make_member(seed=0):
    paddle.seed(seed)  # WRONG
    return nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))


members = [make_member() for _ in range(4)]  # OR
#= members = [make_member(seed) for seed in range(4)]
opts = [paddle.optimizer.Adam(1e-2, parameters=m.parameters()) for m in members]
for step in range(3):
    x = paddle.randn([16, 5])
    y = x.sum(axis=1, keepdim=True)
    for m, opt in zip(members, opts):
        loss = F.mse_loss(m(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
x = paddle.randn([8, 5])
with paddle.no_grad():
    print("spread", paddle.stack([m(x) for m in members]).std(axis=0).mean().item())
