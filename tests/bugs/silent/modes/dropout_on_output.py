"""Dropout is applied to the prediction of a regression."""
import numpy as np
import paddle
from paddle import nn

paddle.seed(14)
np.random.seed(14)


class Houses(paddle.io.Dataset):
    def __init__(self, n=96):
        self.x = np.random.randn(n, 7).astype("float32")
        price = 3.0 + self.x[:, :1] * 1.5 - self.x[:, 2:3] + 0.5 * self.x[:, 4:5] ** 2
        self.y = price.astype("float32")

    def __getitem__(self, i):
        return self.x[i], self.y[i]

    def __len__(self):
        return len(self.x)


class PriceNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(7, 32)
        self.fc2 = nn.Linear(32, 16)
        self.fc3 = nn.Linear(16, 1)
        self.relu = nn.ReLU()
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        x = self.dropout(self.relu(self.fc1(x)))
        x = self.dropout(self.relu(self.fc2(x)))
        return self.dropout(self.fc3(x))  # WRONG
        #= return self.fc3(x)


model = PriceNet()
criterion = nn.MSELoss()
opt = paddle.optimizer.Adam(parameters=model.parameters(), learning_rate=0.01)
for epoch in range(2):
    model.train()
    for x, y in paddle.io.DataLoader(Houses(), batch_size=24, shuffle=True):
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
    print(epoch, float(loss))
