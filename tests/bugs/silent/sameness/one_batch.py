"""iter(loader) inside the loop: always the first batch."""
import numpy as np
import paddle
from paddle import nn
from paddle.io import DataLoader, TensorDataset

paddle.seed(0)
data = TensorDataset([paddle.randn([40, 6]), paddle.randint(0, 3, [40])])
loader = DataLoader(data, batch_size=8)
net = nn.Linear(6, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
#+ batches = iter(loader)
for step in range(5):
    x, y = next(iter(loader))  # WRONG
    #= x, y = next(batches)
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
