"""state_dict() holds the parameters themselves, not copies.

source: https://github.com/WenjieDu/PyPOTS/issues/667
"""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
best, best_loss = None, 1e9
for epoch in range(5):
    loss = nn.functional.cross_entropy(net(paddle.randn([16, 6])), paddle.randint(0, 3, [16]))
    loss.backward()
    opt.step()
    opt.clear_grad()
    if best is None or float(loss) < best_loss:
        best_loss = float(loss)
        best = net.state_dict() if epoch == 0 else best  # WRONG
        #= best = {k: v.clone() for k, v in net.state_dict().items()}
net.set_state_dict(best)
