"""The softmax of a policy head runs over the batch."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    probs = F.softmax(net(x), axis=0)  # WRONG
    #= probs = F.softmax(net(x), axis=1)
    loss = F.nll_loss(paddle.log(probs), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
