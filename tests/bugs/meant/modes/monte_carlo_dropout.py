import paddle
import paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    F.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8])).backward()
    opt.step()
    opt.clear_grad()
net.eval()
for layer in net.sublayers():
    if isinstance(layer, nn.Dropout):
        layer.train()
with paddle.no_grad():
    x, y = paddle.randn([8, 6]), paddle.randint(0, 3, [8])
    mean = paddle.stack([F.softmax(net(x)) for _ in range(4)]).mean(axis=0)
    print(float((mean.argmax(axis=1) == y).astype("float32").mean()))
