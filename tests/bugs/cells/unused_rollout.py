"""A policy chooses actions; the graphs of its choices are never used."""

import paddle
from paddle import nn

paddle.seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
state = paddle.zeros([1, 4])
rewards = []
for _ in range(4):
    probabilities = nn.functional.softmax(policy(state))  # BUG: unused-graph
    action = int(probabilities.numpy()[0].argmax())
    state = state + (0.1 if action else -0.1)
    rewards.append(float(state.sum()))
