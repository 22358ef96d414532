"""The high-level API: ``Model.fit`` with metrics and callbacks, ``evaluate`` and ``predict``."""

import tempfile

import numpy as np
import paddle
from paddle import nn
from paddle.io import Dataset
from paddle.metric import Accuracy


class Digits(Dataset):
    def __init__(self, count):
        super().__init__()
        draw = np.random.default_rng(count)
        self.images = draw.normal(size=(count, 1, 12, 12)).astype("float32")
        self.labels = draw.integers(0, 4, size=(count, 1))

    def __getitem__(self, index):
        return self.images[index], self.labels[index]

    def __len__(self):
        return len(self.images)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU(), nn.MaxPool2D(2)
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.3), nn.Linear(8 * 36, 4))

    def forward(self, x):
        return self.head(self.features(x))


paddle.seed(1)
model = paddle.Model(Net())
schedule = paddle.optimizer.lr.CosineAnnealingDecay(1e-3, T_max=6)
model.prepare(
    paddle.optimizer.Adam(schedule, parameters=model.parameters()),
    nn.CrossEntropyLoss(),
    Accuracy(topk=(1, 2)),
)
with tempfile.TemporaryDirectory() as folder:
    model.fit(
        Digits(24),
        Digits(8),
        epochs=2,
        batch_size=8,
        verbose=0,
        save_dir=folder,
        callbacks=[paddle.callbacks.EarlyStopping("loss", patience=3, verbose=0)],
    )
print(model.evaluate(Digits(8), batch_size=4, verbose=0))
print(model.predict(Digits(8), batch_size=4, verbose=0, stack_outputs=True)[0].shape)
print(model.train_batch([paddle.randn([4, 1, 12, 12])], [paddle.randint(0, 4, [4, 1])]))
