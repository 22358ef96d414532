"""`clear_grad` is missing: each step uses the gradients of all batches before.

source: TrainCheck stackoverflow-60335387,
https://stackoverflow.com/questions/60335387/pytorch-mnist-example-not-converge
"""

import paddle
from paddle import nn
from paddle.io import DataLoader, TensorDataset

paddle.seed(0)
images, digits = paddle.rand([64, 1, 8, 8]), paddle.randint(0, 10, [64])
loader = DataLoader(TensorDataset([images, digits]), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Conv2D(1, 8, 3), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Linear(72, 10))
criterion = nn.CrossEntropyLoss()
opt = paddle.optimizer.SGD(1e-2, parameters=net.parameters())
for epoch in range(2):
    for data, label in loader:
        #+ opt.clear_grad()
        loss = criterion(net(data), label)
        loss.backward()
        opt.step()  # WRONG
        #= opt.step()
