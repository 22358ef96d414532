"""Dropout on hidden units, on inputs of a denoising loss and on views that are compared."""
import numpy as np, random
import paddle, paddle.nn as nn, paddle.nn.functional as F
from paddle.io import Dataset, DataLoader, TensorDataset
paddle.seed(0); rng=np.random.RandomState(0)

n=nn.Sequential(nn.Linear(6,16),nn.ReLU(),nn.Dropout(0.2),nn.Linear(16,4)); ae=nn.Linear(6,6)
enc=nn.Sequential(nn.Linear(6,8),nn.Dropout(0.1))
opt=paddle.optimizer.SGD(0.1,parameters=[*n.parameters(),*ae.parameters(),*enc.parameters()])
for i in range(4):
    x=paddle.randn([8,6])
    a,b=enc(x),enc(x)
    sim=F.normalize(a)@F.normalize(b).T/0.1
    loss=F.cross_entropy(n(x),paddle.randint(0,4,[8]))+F.mse_loss(ae(F.dropout(x,0.2)),x)+F.cross_entropy(sim,paddle.arange(8))+0.1*F.mse_loss(a,b)
    loss.backward(); opt.step(); opt.clear_grad()
