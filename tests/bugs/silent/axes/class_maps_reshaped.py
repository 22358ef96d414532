"""Class maps are reshaped to rows, with as many samples as classes."""
import paddle
from paddle import nn
import paddle.nn.functional as F
net = nn.Sequential(nn.Conv2D(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2DTranspose(8, 3, 2, stride=2))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    x = paddle.randn([3, 3, 8, 8]); y = paddle.randint(0, 3, [3, 16, 16])
    rows = net(x).reshape([-1, 3])  # WRONG
    #= rows = net(x).transpose([0, 2, 3, 1]).reshape([-1, 3])
    loss = F.cross_entropy(rows, y.flatten())
    loss.backward(); opt.step(); opt.clear_grad()
