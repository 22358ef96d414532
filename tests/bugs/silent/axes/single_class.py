"""One output and cross_entropy: its softmax is always 1, the loss always 0."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    x = paddle.randn([16, 5])
    y = (x[:, 0] > 0).astype("int64")
    loss = nn.functional.cross_entropy(net(x), paddle.zeros_like(y))  # WRONG
    #= loss = nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y.astype("float32"))
    loss.backward()
    opt.step()
    opt.clear_grad()
