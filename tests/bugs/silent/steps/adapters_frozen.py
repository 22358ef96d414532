"""The adapters are added first, and then everything is frozen: nothing is trained but the norm.

source: https://github.com/huggingface/trl/issues/3926
"""
import paddle
from paddle import nn

paddle.seed(0)


class LowRank(nn.Layer):
    def __init__(self, linear, rank=2):
        super().__init__()
        self.linear = linear
        self.down = nn.Linear(linear.weight.shape[0], rank, bias_attr=False)
        self.up = nn.Linear(rank, linear.weight.shape[1], bias_attr=False)
        nn.initializer.Constant(0.0)(self.up.weight)

    def forward(self, x):
        return self.linear(x) + self.up(self.down(x))


net = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 3))
#+ for parameter in net.parameters():
#+     parameter.stop_gradient = True
net[0], net[3] = LowRank(net[0]), LowRank(net[3])
for name, parameter in net.named_parameters():
    if not name.startswith("1."):
        parameter.stop_gradient = True  # WRONG
        #= parameter.stop_gradient = "linear" in name
adapters = [one for name, one in net.named_parameters() if "down" in name or "up" in name]
opt = paddle.optimizer.AdamW(1e-3, parameters=adapters)  # OR
for step in range(4):
    loss = nn.functional.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8]))
    loss.backward()
    opt.step()  # OR
    opt.clear_grad()
