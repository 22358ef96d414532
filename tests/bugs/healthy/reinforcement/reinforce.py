"""Policy gradients: log probabilities of an episode are kept until the rewards are known."""

import numpy as np
import paddle
from paddle import nn


class Policy(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 64), nn.ReLU())
        self.actor, self.critic = nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, state):
        hidden = self.body(state)
        return self.actor(hidden), self.critic(hidden)


class Walk:
    """An environment: a walk that ends at an edge."""

    def __init__(self):
        self.draw = np.random.default_rng(0)

    def reset(self):
        self.state = self.draw.normal(size=4).astype("float32")
        return self.state

    def step(self, action):
        self.state = self.state + self.draw.normal(size=4).astype("float32") * (action - 0.5)
        return self.state, float(-abs(self.state).sum()), abs(self.state[0]) > 4


paddle.seed(6)
policy, world = Policy(), Walk()
optimizer = paddle.optimizer.Adam(3e-3, parameters=policy.parameters())
returns_seen = []
for episode in range(3):
    state, log_probabilities, values, rewards, entropies = world.reset(), [], [], [], []
    for _ in range(12):
        logits, value = policy(paddle.to_tensor(state).unsqueeze(0))
        # Paddle's Categorical would draw from another distribution: see test_known_defects.py.
        chances = nn.functional.softmax(logits)
        action = paddle.multinomial(chances, 1)
        log_probabilities.append(paddle.log(paddle.take_along_axis(chances, action, 1)).squeeze())
        entropies.append(-(chances * paddle.log(chances)).sum(-1).mean())
        values.append(value.squeeze())
        state, reward, done = world.step(int(action))
        rewards.append(reward)
        if done:
            break
    total, returns = 0.0, []
    for reward in reversed(rewards):
        total = reward + 0.99 * total
        returns.insert(0, total)
    returns = paddle.to_tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    values = paddle.stack(values)
    advantages = (returns - values).detach()
    policy_loss = -(paddle.stack(log_probabilities) * advantages).sum()
    loss = policy_loss + nn.functional.smooth_l1_loss(values, returns)
    loss = loss - 0.01 * paddle.stack(entropies).mean()
    optimizer.clear_grad()
    loss.backward()
    optimizer.step()
    returns_seen.append(sum(rewards))
print(returns_seen)
