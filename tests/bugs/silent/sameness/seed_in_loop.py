"""The seed is set in each step: dropout and noise are the same each time."""
import paddle
from paddle import nn

#+ paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.5), nn.Linear(16, 6))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(5):
    paddle.seed(42)  # WRONG
    x = paddle.randn([16, 6])
    loss = nn.functional.mse_loss(net(x + 0.1 * paddle.randn([16, 6])), x)
    loss.backward()
    opt.step()
    opt.clear_grad()
