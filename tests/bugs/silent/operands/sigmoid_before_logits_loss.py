"""A sigmoid at the end, and a loss that takes logits."""
import paddle
from paddle import nn

paddle.seed(0)
#- WRONG
net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
#= net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
loss_fn = nn.BCEWithLogitsLoss()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(5):
    x = paddle.randn([32, 10])
    y = (x.sum(axis=1, keepdim=True) > 0).astype("float32")
    loss = loss_fn(net(x), y)  # OR
    loss.backward()
    opt.step()
    opt.clear_grad()
