"""The best state is an alias of the net: at the end the last weights are restored and saved.

source: TrainCheck's list of cases (a checkpoint that changes with the model); see
https://github.com/pytorch/pytorch/issues/28594
"""

import os
import tempfile

import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
x = paddle.randn([48, 6])
y = paddle.randn([48, 1])
best, state = float("inf"), None
for epoch in range(5):
    net.train()
    for at in range(0, 32, 16):
        loss = nn.functional.mse_loss(net(x[at : at + 16]), y[at : at + 16])
        loss.backward()
        opt.step()
        opt.clear_grad()
    net.eval()
    with paddle.no_grad():
        score = nn.functional.mse_loss(net(x[32:]), y[32:]).item()
    if score < best:
        best = score
        state = net.state_dict()  # WRONG
        #= state = {name: value.clone() for name, value in net.state_dict().items()}
with tempfile.TemporaryDirectory() as folder:
    paddle.save(state, os.path.join(folder, "best.pdparams"))
