"""Every worker sets NumPy's seed to the same constant: the augmentations repeat.

source: https://github.com/open-mmlab/OpenPCDet/issues/886
"""
import random

import numpy as np
import paddle
from paddle import nn
from paddle.io import DataLoader, Dataset

paddle.seed(0)
SEED = 2024


class Points(Dataset):
    def __init__(self):
        self.points = np.linspace(0, 1, 48, dtype="float32").reshape(16, 3)

    def __len__(self):
        return len(self.points)

    def __getitem__(self, at):
        scale = np.random.uniform(0.9, 1.1)
        return (self.points[at] * scale).astype("float32"), np.int64(at % 2)


def init_worker(worker_id):
    random.seed(SEED)  # OR
    np.random.seed(SEED)  # WRONG
    #= np.random.seed(SEED + worker_id)


#- WRONG
loader = DataLoader(Points(), batch_size=4, shuffle=True, num_workers=2, worker_init_fn=init_worker)
#= loader = DataLoader(Points(), batch_size=4, shuffle=True, num_workers=2, worker_init_fn=init_worker)
net = nn.Linear(3, 2)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for epoch in range(2):
    for x, y in loader:  # OR
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
