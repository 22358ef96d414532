"""The first layer was frozen by its ParamAttr for a test, and stayed so."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(
    nn.Linear(6, 16, weight_attr=paddle.ParamAttr(learning_rate=0.0)),  # WRONG
    #= nn.Linear(6, 16),
    nn.ReLU(),
    nn.Linear(16, 3),
)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    loss = nn.functional.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8]))
    loss.backward()
    opt.step()
    opt.clear_grad()
