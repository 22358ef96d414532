"""A differential equation with a learned right-hand side; forward solves it by Runge-Kutta."""

import paddle
from paddle import nn

paddle.seed(59)
slope = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 2))
optimizer = paddle.optimizer.Adam(1e-2, parameters=slope.parameters())


def solve(start, times):
    state, path = start, [start]
    for before, after in zip(times[:-1], times[1:], strict=True):
        step = float(after - before)
        k1 = slope(state)
        k2 = slope(state + step / 2 * k1)
        k3 = slope(state + step / 2 * k2)
        k4 = slope(state + step * k3)
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(state)
    return paddle.stack(path)


times = paddle.linspace(0, 1, 6)
truth = paddle.stack([paddle.stack([paddle.cos(t), paddle.sin(t)]) for t in times * 6.28])
for _ in range(3):
    loss = (solve(truth[:1], times).squeeze(1) - truth).abs().mean()
    optimizer.clear_grad()
    loss.backward()
    optimizer.step()
