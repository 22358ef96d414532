"""The net is trained without the layer that scales its input in use."""
import paddle
import paddle.nn as nn

paddle.seed(67)


class Standardized(nn.Layer):
    """Holds the statistics of the inputs together with the network."""

    def __init__(self, inner, mean, std):
        super().__init__()
        self.inner = inner
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)

    def forward(self, x):
        return self.inner((x - self.mean) / self.std)


raw = paddle.randn([160, 3]) * paddle.to_tensor([4.0, 9.0, 2.0]) + paddle.to_tensor([10.0, -20.0, 5.0])
label = (raw[:, 0] * 2 + raw[:, 1] > 0).astype("int64")
core = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
model = Standardized(core, raw.mean(0), raw.std(0))
opt = paddle.optimizer.Adam(1e-2, parameters=model.parameters())

for epoch in range(2):
    for at in range(0, 160, 40):
        x, y = raw[at : at + 40], label[at : at + 40]
        loss = nn.functional.cross_entropy(core(x), y)  # WRONG
        #= loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
    model.eval()
    with paddle.no_grad():
        right = (model(raw).argmax(1) == label).astype("float32").mean()
    model.train()
    print(epoch, loss.item(), float(right))
