import paddle
import paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
proj, up, head = nn.Linear(48, 16), nn.Conv2D(16, 64, 1), nn.Linear(16, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=[p for l in (proj, up, head) for p in l.parameters()])
for step in range(3):
    x = paddle.randn([2, 3, 16, 16])
    p = x.reshape([2, 3, 4, 4, 4, 4]).transpose([0, 2, 4, 3, 5, 1]).reshape([2, 16, 48])
    tokens = proj(p)
    maps = tokens.transpose([0, 2, 1]).reshape([2, 16, 4, 4])
    big = F.pixel_shuffle(up(maps), 2)
    windows = big.reshape([2, 16, 4, 2, 4, 2]).transpose([0, 2, 4, 3, 5, 1]).reshape([-1, 4, 16])
    loss = F.cross_entropy(head(windows.mean(axis=1)), paddle.randint(0, 3, [32]))
    loss.backward()
    opt.step()
    opt.clear_grad()
