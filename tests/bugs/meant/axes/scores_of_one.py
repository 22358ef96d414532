"""Attention to a single token, heads of one unit with softmax over time, a single expert's gate by sigmoid."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(8, 8); self.k = nn.Linear(8, 8); self.s = nn.Linear(8, 1); self.g = nn.Linear(8, 1); self.fc = nn.Linear(8, 2)
    def forward(self, x, context):
        att = F.softmax(self.q(x) @ self.k(context).transpose([0, 2, 1]) / math.sqrt(8), -1)
        h = x + att @ context
        w = F.softmax(self.s(h), axis=1)
        v = F.softmax(self.s(h).squeeze(-1), axis=-1).unsqueeze(-1)
        return self.fc(((w + v) * F.sigmoid(self.g(h)) * h).sum(1))
net = Net(); opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    loss = F.cross_entropy(net(paddle.randn([6, 5, 8]), paddle.randn([6, 1, 8])), paddle.randint(0, 2, [6]))
    loss.backward(); opt.step(); opt.clear_grad()
