"""PPO: a rollout in tensors without gradients, then several epochs over it in small batches."""

import paddle
from paddle import nn
from paddle.distribution import Normal

paddle.seed(8)
actor = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 2))
critic = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))
log_std = paddle.create_parameter([2], "float32")
optimizer = paddle.optimizer.Adam(
    3e-4, parameters=[*actor.parameters(), *critic.parameters(), log_std]
)


@paddle.no_grad()
def rollout(length=16, count=16):
    states, actions, log_probabilities, values, rewards = [], [], [], [], []
    state = paddle.randn([count, 8])
    for _ in range(length):
        actions_of = Normal(actor(state), log_std.exp())
        action = actions_of.sample()
        states.append(state)
        actions.append(action)
        log_probabilities.append(actions_of.log_prob(action).sum(-1))
        values.append(critic(state).squeeze(-1))
        rewards.append(-(action.square().sum(-1)))
        state = paddle.randn([count, 8])
    advantages, last = [], paddle.zeros([count])
    for t in reversed(range(length)):
        last = rewards[t] - values[t] + 0.95 * last
        advantages.insert(0, last)
    pieces = states, actions, log_probabilities, values, advantages
    states, actions, log_probabilities, values, advantages = map(paddle.concat, pieces)
    return states, actions, log_probabilities, advantages, advantages + values


for _ in range(2):
    states, actions, old, advantages, returns = rollout()
    for _ in range(2):
        order = paddle.randperm(states.shape[0])
        for start in range(0, states.shape[0], 64):
            rows = order[start : start + 64]
            actions_of = Normal(actor(states[rows]), log_std.exp())
            new = actions_of.log_prob(actions[rows]).sum(-1)
            ratio = (new - old[rows]).exp()
            gain = advantages[rows]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            clipped = paddle.clip(ratio, 0.8, 1.2) * gain
            policy_loss = -paddle.minimum(ratio * gain, clipped).mean()
            value_loss = (critic(states[rows]).squeeze(-1) - returns[rows]).square().mean()
            loss = policy_loss + 0.5 * value_loss - 0.01 * actions_of.entropy().mean()
            optimizer.clear_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
            optimizer.step()
