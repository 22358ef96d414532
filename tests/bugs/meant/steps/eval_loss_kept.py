import paddle
from paddle import nn
paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.2), nn.Linear(16, 3))
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
skipped = 0
for step in range(5):
    loss = nn.functional.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8]))
    if float(loss) > 1.25 and step:
        skipped += 1
        continue
    loss.backward()
    opt.step()
    opt.clear_grad()
