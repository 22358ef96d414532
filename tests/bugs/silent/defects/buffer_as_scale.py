"""On the CPU the input gradient of layer_norm ignores a scale that is a buffer."""
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(43)


class FixedNorm(nn.Layer):
    """Layer norm whose gains come from a published table."""

    def __init__(self, gains):
        super().__init__()
        self.register_buffer("gains", gains)

    def forward(self, x):
        return F.layer_norm(x, [16], weight=self.gains)  # WRONG
        #= return F.layer_norm(x, [16]) * self.gains


net = nn.Sequential(nn.Linear(6, 16), FixedNorm(paddle.linspace(0.1, 4.0, 16)), nn.Linear(16, 3))
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
for step in range(3):
    x = paddle.randn([40, 6])
    loss = F.cross_entropy(net(x), x[:, :3].argmax(axis=1))
    loss.backward()
    opt.step()
    opt.clear_grad()
