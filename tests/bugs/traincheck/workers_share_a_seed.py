"""Each worker of the loader sets the same seed: all draw the same noise.

source: TrainCheck stackoverflow-67180955, https://github.com/pytorch/pytorch/issues/5059
"""

import numpy as np
import paddle
from paddle import nn
from paddle.io import DataLoader, Dataset

paddle.seed(0)


class Noisy(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, at):
        noise = np.random.randn(6).astype("float32")
        return noise + at / 16, np.int64(at % 3)


def seeded(worker):
    np.random.seed(7)  # WRONG
    #= np.random.seed(7 + worker)


net = nn.Linear(6, 3)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
loader = DataLoader(Noisy(), batch_size=4, num_workers=2, worker_init_fn=seeded)  # OR
for epoch in range(2):
    for x, y in loader:  # OR
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
