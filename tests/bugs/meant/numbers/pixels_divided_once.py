"""Pixels that are divided once, and quiet waves that a norm enlarges."""
import numpy as np, random
import paddle, paddle.nn as nn, paddle.nn.functional as F
from paddle.io import Dataset, DataLoader, TensorDataset
paddle.seed(0); rng=np.random.RandomState(0)

net=nn.Sequential(nn.Conv2D(3,4,3),nn.ReLU(),nn.Flatten(),nn.Linear(144,3))
opt=paddle.optimizer.Adam(1e-3,parameters=net.parameters())
for i in range(4):
    raw=paddle.to_tensor(rng.randint(0,256,(6,3,8,8)).astype('uint8'))
    x=raw.astype('float32')/255.0 if i%2 else (paddle.to_tensor(rng.rand(6,3,8,8).astype('float32'))-0.5)/0.5
    loss=F.cross_entropy(net(x),paddle.randint(0,3,[6])); loss.backward(); opt.step(); opt.clear_grad()
waves=nn.Sequential(nn.BatchNorm1D(1),nn.Conv1D(1,4,3),nn.ReLU(),nn.Flatten(),nn.Linear(56,2))
opt=paddle.optimizer.Adam(1e-3,parameters=waves.parameters())
for i in range(3):
    x=paddle.to_tensor((0.001*rng.rand(8,1,16)).astype('float32'))
    F.cross_entropy(waves(x),paddle.randint(0,2,[8])).backward(); opt.step(); opt.clear_grad()
