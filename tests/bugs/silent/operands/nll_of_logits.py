"""nll_loss takes log-probabilities."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)
net = nn.Linear(8, 5)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    x, y = paddle.randn([16, 8]), paddle.randint(0, 5, [16])
    loss = F.nll_loss(net(x), y)  # WRONG
    #= loss = F.nll_loss(F.log_softmax(net(x)), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
