"""Items seeded by their number, an order of features that is meant, and noise of a validation set."""
import numpy as np, random
import paddle, paddle.nn as nn, paddle.nn.functional as F
from paddle.io import Dataset, DataLoader, TensorDataset
paddle.seed(0); rng=np.random.RandomState(0)

SEED=7
class D(Dataset):
    def __init__(s): s.x=rng.randn(40,12).astype('float32'); s.seed=3
    def __getitem__(s,i):
        g = np.random.RandomState(i)
        return (s.x[i]+0.3*g.normal(size=12)).astype('float32'), s.x[i]
    def __len__(s): return 40
net=nn.Linear(12,12); opt=paddle.optimizer.Adam(1e-2,parameters=net.parameters())
for e in range(2):
    for x,y in DataLoader(D(),batch_size=10,shuffle=True):
        loss=F.mse_loss(net(x),y); loss.backward(); opt.step(); opt.clear_grad()
SEED=7
class D(Dataset):
    def __init__(s): s.x=rng.randn(40,12).astype('float32'); s.seed=3
    def __getitem__(s,i):
        random.seed(SEED+i)
        return (s.x[i]+0.3*random.gauss(0,1)).astype('float32'), s.x[i]
    def __len__(s): return 40
net=nn.Linear(12,12); opt=paddle.optimizer.Adam(1e-2,parameters=net.parameters())
for e in range(2):
    for x,y in DataLoader(D(),batch_size=10,shuffle=True):
        loss=F.mse_loss(net(x),y); loss.backward(); opt.step(); opt.clear_grad()
SEED=7
class D(Dataset):
    def __init__(s): s.x=rng.randn(40,12).astype('float32'); s.seed=3
    def __getitem__(s,i):
        p = np.random.RandomState(SEED).permutation(12)
        return (s.x[i]+0*s.x[i][p]).astype('float32'), s.x[i]
    def __len__(s): return 40
net=nn.Linear(12,12); opt=paddle.optimizer.Adam(1e-2,parameters=net.parameters())
for e in range(2):
    for x,y in DataLoader(D(),batch_size=10,shuffle=True):
        loss=F.mse_loss(net(x),y); loss.backward(); opt.step(); opt.clear_grad()
class D(Dataset):
    def __init__(s,val): s.x=rng.randn(40,12).astype('float32'); s.val=val
    def __getitem__(s,i):
        return (s.x[i]+np.random.randn(12)*0.1).astype('float32'), s.x[i]
    def __len__(s): return 40
class V(D):
    def __getitem__(s,i):
        r=np.random.RandomState(0)
        return (s.x[i]+r.randn(12)*0.1).astype('float32'), s.x[i]
net=nn.Linear(12,12); opt=paddle.optimizer.Adam(1e-2,parameters=net.parameters())
for e in range(2):
    for x,y in DataLoader(D(0),batch_size=10,shuffle=True):
        loss=F.mse_loss(net(x),y); loss.backward(); opt.step(); opt.clear_grad()
    net.eval()
    with paddle.no_grad():
        for x,y in DataLoader(V(1),batch_size=10): F.mse_loss(net(x),y)
    net.train()
