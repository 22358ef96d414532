"""Fractions become whole numbers."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
net = nn.Linear(5, 1); opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    x = paddle.randn([32, 5]); percent = paddle.to_tensor(np.random.randint(1, 99, (32, 1)).astype("float32"))
    y = (percent * 0.01).astype("int32")  # WRONG
    #= y = percent * 0.01
    loss = F.l1_loss(F.sigmoid(net(x)), y.astype("float32"))
    loss.backward(); opt.step(); opt.clear_grad()
