"""Functional dropout that is meant: training=True in eval mode, and a layer that was set to train."""
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
        self.fc = nn.Linear(6, 6); self.out = nn.Linear(6, 2); self.drop = nn.Dropout(0.2)
    def forward(self, x):
        h = F.dropout(F.relu(self.fc(x)), 0.3, training=True)  # samples in eval mode, too
        return self.out(self.drop(h))
net = Net(); opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    net.train()
    loss = F.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 2, [8]))
    loss.backward(); opt.step(); opt.clear_grad()
    net.eval(); net.drop.train()
    with paddle.no_grad():
        x = paddle.randn([8, 6])
        print(float(paddle.stack([F.softmax(net(x), -1) for _ in range(3)]).var(0).mean()))
