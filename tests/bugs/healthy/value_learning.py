"""Q-learning: a target network, actions chosen without gradients, targets made from numbers."""

import copy

import numpy as np
import paddle
from paddle import nn

paddle.seed(0)
online = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
target = copy.deepcopy(online)
optimizer = paddle.optimizer.SGD(0.05, parameters=online.parameters())
state = np.zeros((1, 3), "float32")
for step in range(4):
    with paddle.no_grad():
        action = int(online(paddle.to_tensor(state)).argmax().item())
    following = state + (0.1 if action else -0.1)
    with paddle.no_grad():
        value = target(paddle.to_tensor(following)).max().item()
    wanted = paddle.to_tensor([1.0 + 0.9 * value])
    chosen = online(paddle.to_tensor(state))[:, action]
    loss = nn.functional.smooth_l1_loss(chosen, wanted)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    state = following.astype("float32")
    if step == 2:
        target.set_state_dict(online.state_dict())
