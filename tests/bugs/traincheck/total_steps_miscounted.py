"""The schedule counts batches of one epoch: from the second epoch on, the rate is 0.

source: TrainCheck's list of cases (total steps miscounted); see
https://github.com/PaddlePaddle/PaddleNLP/issues/1188
"""

import paddle
from paddle import nn
from paddle.io import DataLoader, TensorDataset

paddle.seed(0)
data = TensorDataset([paddle.randn([32, 6]), paddle.randint(0, 3, [32])])
loader = DataLoader(data, batch_size=8, shuffle=True)
epochs = 3
total = len(loader)  # OR
#= total = len(loader) * epochs
schedule = paddle.optimizer.lr.LambdaDecay(1e-3, lambda step: max(0.0, 1 - step / total))  # OR
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
opt = paddle.optimizer.AdamW(schedule, parameters=net.parameters())
for epoch in range(epochs):
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        schedule.step()  # WRONG
        #= schedule.step()
        opt.clear_grad()
