"""Hooks that note statistics of outputs and return nothing."""
import paddle
from paddle import nn
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
stats = {}
def log(layer, inputs, out):
    stats["mean"] = out.mean()
    stats["max"] = float(out.max())
net[0].register_forward_post_hook(log)
net[1].register_forward_post_hook(lambda l, i, o: stats.update(z=(o == 0).astype("float32").mean().item()))
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(4):
    x, y = paddle.randn([8, 4]), paddle.randint(0, 2, [8])
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step(); opt.clear_grad()
