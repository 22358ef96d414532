"""A comment names the missing argument."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6); self.out = nn.Linear(6, 2)
    def forward(self, x):
        h = F.dropout(F.relu(self.fc(x)), 0.3)  # TODO: pass training=self.training # WRONG
        #= h = F.dropout(F.relu(self.fc(x)), 0.3, training=self.training)
        return self.out(h)
net = Block(); opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    net.train()
    loss = F.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 2, [8]))
    loss.backward(); opt.step(); opt.clear_grad()
    net.eval()
    with paddle.no_grad():
        print(float((net(paddle.randn([8, 6])).argmax(-1) == 1).astype("float32").mean()))
