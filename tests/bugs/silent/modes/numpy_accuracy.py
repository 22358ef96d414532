"""Accuracy is computed with NumPy while the net is in training mode.

source: https://github.com/yanx27/GACNet/issues/8
"""
import paddle
from paddle import nn
import numpy as np
paddle.seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.3), nn.ReLU(), nn.Linear(16, 2))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for epoch in range(2):
    #+ net.train()
    for b in range(3):
        nn.functional.cross_entropy(net(paddle.randn([8,8])), paddle.randint(0,2,[8])).backward()
        opt.step(); opt.clear_grad()
    #+ net.eval()
    with paddle.no_grad():
        y = np.zeros(8)
        pred = net(paddle.randn([8,8])).numpy().argmax(1)  # WRONG
        #= pred = net(paddle.randn([8,8])).numpy().argmax(1)
        acc = (pred == y).mean()
