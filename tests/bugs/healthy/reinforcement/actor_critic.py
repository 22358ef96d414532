"""Soft actor-critic: two critics, their target copies, a learned temperature."""

import copy

import paddle
from paddle import nn
from paddle.nn import functional as F


def mlp(inward, outward):
    return nn.Sequential(nn.Linear(inward, 64), nn.ReLU(), nn.Linear(64, outward))


paddle.seed(47)
actor, critics = mlp(6, 4), nn.LayerList([mlp(8, 1), mlp(8, 1)])
slow = copy.deepcopy(critics)
log_alpha = paddle.create_parameter([1], "float32")
actor_steps = paddle.optimizer.Adam(3e-4, parameters=actor.parameters())
critic_steps = paddle.optimizer.Adam(3e-4, parameters=critics.parameters())
alpha_steps = paddle.optimizer.Adam(3e-4, parameters=[log_alpha])


def act(state):
    mean, log_std = actor(state).chunk(2, axis=-1)
    noise = paddle.randn(mean.shape)
    log_std = log_std.clip(-5, 2)
    action = paddle.tanh(mean + log_std.exp() * noise)
    chance = (-0.5 * noise**2 - log_std - paddle.log(1 - action**2 + 1e-6)).sum(-1, keepdim=True)
    return action, chance


def score(networks, state, action):
    both = paddle.concat([state, action], -1)
    return [net(both) for net in networks]


for _ in range(3):
    state, action, following = paddle.randn([32, 6]), paddle.randn([32, 2]), paddle.randn([32, 6])
    reward = paddle.randn([32, 1])
    alpha = log_alpha.exp().detach()
    with paddle.no_grad():
        next_action, chance = act(following)
        value = paddle.minimum(*score(slow, following, next_action)) - alpha * chance
        wanted = reward + 0.99 * value
    critic_loss = sum(F.mse_loss(one, wanted) for one in score(critics, state, action))
    critic_steps.clear_grad()
    critic_loss.backward()
    critic_steps.step()

    own_action, chance = act(state)
    actor_loss = (alpha * chance - paddle.minimum(*score(critics, state, own_action))).mean()
    actor_steps.clear_grad()
    actor_loss.backward()
    actor_steps.step()

    alpha_loss = -(log_alpha * (chance + 2).detach()).mean()
    alpha_steps.clear_grad()
    alpha_loss.backward()
    alpha_steps.step()
    with paddle.no_grad():
        for old, new in zip(slow.parameters(), critics.parameters(), strict=True):
            old.set_value(0.995 * old + 0.005 * new)
