"""Deep Q-learning: a replay buffer, a target network, actions chosen without gradients."""

import copy
import random
from collections import deque

import numpy as np
import paddle
from paddle import nn
from paddle.nn import functional as F

random.seed(1)
paddle.seed(7)
draw = np.random.default_rng(2)
net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
target_net = copy.deepcopy(net)
target_net.eval()
optimizer = paddle.optimizer.RMSProp(1e-3, parameters=net.parameters())
buffer = deque(maxlen=50)
state = draw.normal(size=4).astype("float32")
for step in range(30):
    if random.random() < 0.3:
        action = random.randrange(2)
    else:
        with paddle.no_grad():
            action = int(net(paddle.to_tensor(state)[None]).argmax())
    following = draw.normal(size=4).astype("float32")
    buffer.append((state, action, float(following.sum()), following, step % 10 == 9))
    state = following
    if step < 20:
        continue
    batch = random.sample(list(buffer), 16)
    states, actions, rewards, nexts, done = map(np.array, zip(*batch, strict=True))
    values = net(paddle.to_tensor(states))
    chosen = values.take_along_axis(paddle.to_tensor(actions)[:, None], 1).squeeze(1)
    with paddle.no_grad():
        best = target_net(paddle.to_tensor(nexts)).max(axis=1)
        wanted = paddle.to_tensor(rewards, dtype="float32") + 0.9 * best * (
            1 - paddle.to_tensor(done, dtype="float32")
        )
    loss = F.smooth_l1_loss(chosen, wanted)
    optimizer.clear_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        target_net.set_state_dict(net.state_dict())
