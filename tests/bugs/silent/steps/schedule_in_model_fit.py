"""Model.fit steps the schedule for each batch, and its length is in epochs."""
import numpy as np
import paddle
from paddle import nn
from paddle.io import TensorDataset

paddle.seed(17)
rng = np.random.default_rng(17)
x = rng.normal(size=(128, 11)).astype("float32")
y = np.abs(x).argmax(1).astype("int64") % 3
train = TensorDataset([paddle.to_tensor(x), paddle.to_tensor(y[:, None])])

EPOCHS, BATCH = 2, 32
steps = EPOCHS * len(train) // BATCH

net = nn.Sequential(nn.Linear(11, 24), nn.ReLU(), nn.Linear(24, 3))
decay = paddle.optimizer.lr.PolynomialDecay(0.02, decay_steps=EPOCHS, end_lr=0.0)  # WRONG
#= decay = paddle.optimizer.lr.PolynomialDecay(0.02, decay_steps=steps, end_lr=0.0)
model = paddle.Model(net)
model.prepare(
    paddle.optimizer.Adam(decay, parameters=net.parameters()),
    nn.CrossEntropyLoss(),
    paddle.metric.Accuracy(),
)
model.fit(train, batch_size=BATCH, epochs=EPOCHS, verbose=2, log_freq=2, shuffle=True)
