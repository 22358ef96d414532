# PacktPublishing/Deep-Reinforcement-Learning-Hands-On#74: rewards [N] minus values [N, 1] is [N, N]
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(1)


class ActorCritic(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
        self.pi = nn.Linear(32, 3)
        self.v = nn.Linear(32, 1)

    def forward(self, s):
        h = self.body(s)
        return self.pi(h), self.v(h)


net = ActorCritic()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for it in range(4):
    states = paddle.randn([24, 6])
    actions = paddle.randint(0, 3, [24])
    returns = paddle.randn([24])
    logits, values = net(states)
    value_loss = F.mse_loss(values.squeeze(-1), returns)
    adv = returns - values.detach()  # WRONG
    #= adv = returns - values.squeeze(-1).detach()
    log_prob = F.log_softmax(logits, axis=1)
    picked = paddle.take_along_axis(log_prob, actions.unsqueeze(1), axis=1).squeeze(1)
    policy_loss = -(adv * picked).mean()  # OR
    loss = policy_loss + 0.5 * value_loss
    loss.backward()
    opt.step()
    opt.clear_grad()
