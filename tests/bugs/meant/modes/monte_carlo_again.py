"""Monte Carlo dropout over one validation batch after each step, and batch norm statistics computed anew."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
net = nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.3), nn.ReLU(), nn.Linear(16, 2))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
vx, vy = paddle.randn([32, 6]), paddle.randint(0, 2, [32])
for step in range(3):
    net.train()
    loss = F.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 2, [8]))
    loss.backward(); opt.step(); opt.clear_grad()
    with paddle.no_grad():
        many = paddle.stack([F.softmax(net(vx), -1) for _ in range(4)])
        print(float((many.mean(0).argmax(-1) == vy).astype("float32").mean()), float(many.var(0).mean()))
    net.eval()
    with paddle.no_grad():
        print(float((net(vx).argmax(-1) == vy).astype("float32").mean()))
