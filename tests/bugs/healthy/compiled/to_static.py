"""A model compiled by ``to_static``, trained, saved with ``paddle.jit`` and loaded again."""

import os
import tempfile

import paddle
from paddle import nn
from paddle.nn import functional as F
from paddle.static import InputSpec


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(16, 64), nn.Linear(64, 4)

    def forward(self, x):
        hidden = F.relu(self.body(x))
        if hidden.mean() > 100:
            hidden = hidden / 100
        return self.head(hidden)


paddle.seed(30)
net = paddle.jit.to_static(Net(), input_spec=[InputSpec([None, 16], "float32")], full_graph=True)
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for _ in range(3):
    loss = F.cross_entropy(net(paddle.randn([32, 16])), paddle.randint(0, 4, [32]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
net.eval()
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "net")
    paddle.jit.save(net, path)
    loaded = paddle.jit.load(path)
    with paddle.no_grad():
        print(loaded(paddle.randn([2, 16])).shape)
