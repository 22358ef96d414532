"""Mixed precision with a GradScaler: levels O1 and O2, gradients clipped after unscaling."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 64))
        self.head = nn.Linear(64, 4)

    def forward(self, x):
        return self.head(F.relu(self.body(x)))


paddle.seed(11)
x, y = paddle.randn([32, 16]), paddle.randint(0, 4, [32])
net = Net()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
for _ in range(3):
    with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
        loss = F.cross_entropy(net(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.clear_grad()

net = Net()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters(), multi_precision=True)
net, optimizer = paddle.amp.decorate(models=net, optimizers=optimizer, level="O2", dtype="bfloat16")
scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
for _ in range(3):
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
        loss = F.cross_entropy(net(x), y)
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.minimize(optimizer, scaled)
    optimizer.clear_grad()
    print(float(loss))
