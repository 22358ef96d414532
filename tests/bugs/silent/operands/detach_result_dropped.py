"""The result of detach() is not kept, and gradients flow into the target.

source: https://github.com/oreilly-japan/deep-learning-from-scratch-4/issues/13
"""
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(8)
rng = np.random.RandomState(8)


class QNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(4, 32)
        self.l2 = nn.Linear(32, 2)

    def forward(self, s):
        return self.l2(F.relu(self.l1(s)))


class Agent:
    def __init__(self):
        self.gamma = 0.95
        self.qnet = QNet()
        self.opt = paddle.optimizer.Adam(5e-3, parameters=self.qnet.parameters())

    def update(self, state, action, reward, following, done):
        q = paddle.take_along_axis(self.qnet(state), action.unsqueeze(1), 1).squeeze(1)
        next_q = self.qnet(following).max(axis=1)
        next_q.detach()  # WRONG
        #= next_q = next_q.detach()
        target = reward + (1 - done) * self.gamma * next_q  # OR
        loss = F.mse_loss(q, target)
        self.opt.clear_grad()
        loss.backward()
        self.opt.step()
        return float(loss)


agent = Agent()
for step in range(8):
    state = rng.randn(32, 4).astype("float32")
    action = rng.randint(0, 2, 32).astype("int64")
    push = np.where(action == 1, 0.2, -0.2).astype("float32")
    following = state + push[:, None] * np.array([0.1, 1, -0.1, -1], "float32")
    reward = (np.abs(following[:, 2]) < 1).astype("float32")
    batch = [paddle.to_tensor(v) for v in (state, action, reward, following.astype("float32"), 1 - reward)]
    print(step, agent.update(*batch))
