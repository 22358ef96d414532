"""Large weights saturate the sigmoids."""
import paddle
from paddle import nn
paddle.seed(0)
net = nn.Sequential(nn.Linear(8, 16, weight_attr=nn.initializer.Normal(0, 100.0)), nn.Sigmoid(), nn.Linear(16, 2))  # OR
#= net = nn.Sequential(nn.Linear(8, 16, weight_attr=nn.initializer.Normal(0, 0.3)), nn.Sigmoid(), nn.Linear(16, 2))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for i in range(4):
    loss = nn.functional.cross_entropy(net(paddle.randn([16, 8])), paddle.randint(0, 2, [16]))  # WRONG
    #= loss = nn.functional.cross_entropy(net(paddle.randn([16, 8])), paddle.randint(0, 2, [16]))
    loss.backward(); opt.step(); opt.clear_grad()
