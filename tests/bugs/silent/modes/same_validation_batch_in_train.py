"""The same validation batch is read in train mode after each step."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1D(16), nn.ReLU(), nn.Linear(16, 2))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
vx, vy = paddle.randn([32, 6]), paddle.randint(0, 2, [32])
for step in range(4):
    loss = F.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 2, [8]))
    loss.backward(); opt.step(); opt.clear_grad()
    #+ net.eval()
    with paddle.no_grad():
        acc = (net(vx).argmax(-1) == vy).astype("float32").mean()  # WRONG
        #= acc = (net(vx).argmax(-1) == vy).astype("float32").mean()
    #+ net.train()
    print(float(acc))
