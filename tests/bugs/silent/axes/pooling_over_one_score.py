"""Attention pooling normalises over the axis of the single score."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
class Pool(nn.Layer):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(4, 8); self.score = nn.Linear(8, 1); self.fc = nn.Linear(8, 2)
    def forward(self, x):
        h = paddle.tanh(self.enc(x))
        a = F.softmax(self.score(h), axis=-1)  # WRONG
        #= a = F.softmax(self.score(h), axis=1)
        return self.fc((a * h).sum(1))
net = Pool(); opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    loss = F.cross_entropy(net(paddle.randn([6, 5, 4])), paddle.randint(0, 2, [6]))
    loss.backward(); opt.step(); opt.clear_grad()
