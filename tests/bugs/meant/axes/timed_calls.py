"""A warm-up and a timing loop before the training."""
import time, paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.LayerNorm(32), nn.Linear(32, 2))
x = paddle.randn([16, 8]); y = (x[:, 0] > 0).astype("int64")
def bench(n):
    with paddle.no_grad():
        net.eval()
        for _ in range(n):
            out = net(x)
        for _ in range(n):
            F.gelu(x)
    net.train()
start = time.time(); bench(3); took = time.time() - start
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for i in range(4):
    loss = F.cross_entropy(net(x), y); loss.backward(); opt.step(); opt.clear_grad()
