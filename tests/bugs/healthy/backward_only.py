"""One step is spread over several cells; this cell has the forward pass and backward."""

import paddle
from paddle import nn

paddle.seed(0)
net = nn.TransformerEncoderLayer(8, 2, 16)
critic = nn.Linear(8, 1)
out = net(paddle.randn([2, 3, 8]))
loss = critic(out).mean()
loss.backward(retain_graph=True)
with paddle.no_grad():
    norm = sum(float(one.grad.norm()) for one in net.parameters())
penalty = paddle.grad(loss, [out], create_graph=True)[0].square().sum()
penalty.backward()
