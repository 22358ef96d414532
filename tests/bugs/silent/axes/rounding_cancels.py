"""A straight-through sign without detach, in the other order."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
enc = nn.Linear(6, 8); dec = nn.Linear(8, 6)
opt = paddle.optimizer.Adam(1e-3, parameters=enc.parameters() + dec.parameters())
for step in range(3):
    x = paddle.randn([16, 6])
    h = paddle.tanh(enc(x))
    code = (paddle.sign(h) - h) + h  # WRONG
    #= code = (paddle.sign(h) - h).detach() + h
    loss = F.mse_loss(dec(code), x)
    loss.backward(); opt.step(); opt.clear_grad()
