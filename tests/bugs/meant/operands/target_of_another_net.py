"""Double DQN with a target network that is copied now and then and not detached: it has no optimizer."""
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(39)
rng = np.random.RandomState(39)


def make():
    return nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))


online, target = make(), make()
target.set_state_dict(online.state_dict())
opt = paddle.optimizer.Adam(3e-3, parameters=online.parameters())
memory = []


@paddle.no_grad()
def choose(s):
    return int(online(paddle.to_tensor(s[None])).argmax())


for step in range(8):
    s = rng.randn(4).astype("float32")
    for _ in range(8):
        a = choose(s) if rng.rand() > 0.3 else rng.randint(2)
        n = (s + 0.1 * rng.randn(4) + (0.1 if a else -0.1)).astype("float32")
        memory.append((s, a, float(abs(n[2]) < 1), n))
        s = n
    pick = [memory[i] for i in rng.choice(len(memory), 8, replace=False)]
    s_, a_, r_, n_ = (paddle.to_tensor(np.stack(v)) for v in zip(*pick))
    q = (online(s_) * F.one_hot(a_, 2)).sum(1)
    best = online(n_).argmax(1)
    goal = r_.astype("float32") + 0.9 * (target(n_) * F.one_hot(best, 2)).sum(1)
    loss = F.smooth_l1_loss(q, goal)
    opt.clear_grad()
    loss.backward()
    opt.step()
    if step % 3 == 2:
        target.set_state_dict(online.state_dict())
    print(step, float(loss))
