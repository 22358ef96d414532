"""Actor-critic: the advantage is not detached, so the policy loss trains the critic."""
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(23)
actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
opt = paddle.optimizer.Adam(1e-3, parameters=actor.parameters() + critic.parameters())
for step in range(4):
    state = paddle.randn([32, 4]); returns = paddle.randn([32])
    dist = paddle.distribution.Categorical(actor(state))
    action = dist.sample([1])[0]
    log_prob = paddle.take_along_axis(F.log_softmax(actor(state), -1), action.unsqueeze(1), 1).squeeze(1)
    value = critic(state).squeeze(1)
    advantage = returns - value  # OR
    policy_loss = -(log_prob * advantage).mean()  # WRONG
    #= policy_loss = -(log_prob * advantage.detach()).mean()
    value_loss = F.mse_loss(value, returns)
    loss = policy_loss + 0.5 * value_loss
    loss.backward(); opt.step(); opt.clear_grad()
