"""One row of the data set contains no values."""

import numpy as np
import paddle
from paddle.io import DataLoader, TensorDataset

rows = np.random.default_rng(0).normal(size=(12, 5)).astype("float32")
rows[7, 2] = np.nan
features = paddle.to_tensor(rows)  # BUG: nan-origin
labels = paddle.zeros([12, 1])
model = paddle.nn.Linear(5, 1)
optimizer = paddle.optimizer.SGD(0.01, parameters=model.parameters())
for _ in range(2):
    loss = paddle.nn.functional.mse_loss(model(features), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
