"""Validation with dropout and batch statistics.

source: https://github.com/wolny/pytorch-3dunet/issues/53
"""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1D(16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for epoch in range(3):
    #+ net.train()
    for _ in range(2):
        loss = nn.functional.cross_entropy(net(paddle.randn([16, 6])), paddle.randint(0, 3, [16]))
        loss.backward()
        opt.step()
        opt.clear_grad()
    #+ net.eval()
    with paddle.no_grad():
        x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
        hits = net(x).argmax(axis=1) == y  # WRONG
        #= hits = net(x).argmax(axis=1) == y
    print(float(hits.astype("float32").mean()))
