import copy
import paddle
from paddle import nn
paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.1), nn.Linear(8, 3))
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
best, lowest = None, 1e9
for epoch in range(4):
    net.train()
    loss = nn.functional.cross_entropy(net(paddle.randn([16, 6])), paddle.randint(0, 3, [16]))
    loss.backward()
    opt.step()
    opt.clear_grad()
    net.eval()
    with paddle.no_grad():
        value = float(nn.functional.cross_entropy(net(paddle.randn([16, 6])), paddle.randint(0, 3, [16])))
    if value < lowest:
        best, lowest = copy.deepcopy(net.state_dict()), value
net.set_state_dict(best)
