"""Each worker of a loader has a seed of its own."""

import random, numpy as np, paddle
from paddle import nn
from paddle.io import DataLoader, Dataset


class D(Dataset):
    def __len__(s):
        return 8

    def __getitem__(s, i):
        return np.random.randn(4).astype("float32"), np.int64(i % 2)


seed = 3


def init(worker_id):
    np.random.seed(seed + worker_id)
    random.seed(seed + worker_id)


def fixed(_):
    np.random.seed(int(np.random.randint(1 << 20)))


net = nn.Linear(4, 2)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for f in (init, fixed, None):
    for x, y in DataLoader(D(), batch_size=2, num_workers=2, worker_init_fn=f):
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
        opt.clear_grad()
