"""Schedules as long as their calls of step(), by batch or by epoch."""
import numpy as np, random
import paddle, paddle.nn as nn, paddle.nn.functional as F
from paddle.io import Dataset, DataLoader, TensorDataset
paddle.seed(0); rng=np.random.RandomState(0)

net=nn.Linear(4,1); N=3
data=DataLoader(TensorDataset([paddle.randn([40,4]),paddle.randn([40,1])]),batch_size=8)
for per in (False, True):
    lr=paddle.optimizer.lr.CosineAnnealingDecay(0.1,T_max=N*(len(data) if per else 1))
    opt=paddle.optimizer.Momentum(lr,parameters=net.parameters())
    for e in range(N):
        for x,y in data:
            loss=F.mse_loss(net(x),y); loss.backward(); opt.step(); opt.clear_grad()
            if per: lr.step()
        if not per: lr.step()
net=nn.Linear(4,1)
lr=paddle.optimizer.lr.CosineAnnealingDecay(0.1,T_max=4)
opt=paddle.optimizer.Momentum(lr,parameters=net.parameters())
for e in range(3):
    for b in range(4):
        loss=net(paddle.randn([8,4])).square().mean(); loss.backward(); opt.step(); opt.clear_grad()
        lr.step()
