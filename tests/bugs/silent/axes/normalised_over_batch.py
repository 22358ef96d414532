"""SimCLR: embeddings are normalised over the batch instead of over the features."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(4)
net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    x = paddle.randn([24, 20])
    za, zb = net(x + 0.1 * paddle.randn(x.shape)), net(x + 0.1 * paddle.randn(x.shape))
    za, zb = F.normalize(za, axis=0), F.normalize(zb, axis=0)  # WRONG
    #= za, zb = F.normalize(za, axis=1), F.normalize(zb, axis=1)
    sim = paddle.matmul(za, zb, transpose_y=True) / 0.2
    labels = paddle.arange(24)
    loss = (F.cross_entropy(sim, labels) + F.cross_entropy(sim.t(), labels)) / 2
    loss.backward()
    opt.step()
    opt.clear_grad()
