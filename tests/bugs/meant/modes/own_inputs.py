import paddle
from paddle import nn
paddle.seed(0)
net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5))
net.eval()
image = paddle.rand([1, 3, 8, 8])
image.stop_gradient = False
opt = paddle.optimizer.Adam(0.05, parameters=[image])
for step in range(4):
    loss = -net(image)[0, 2]
    loss.backward()
    opt.step()
    opt.clear_grad()
    net.clear_gradients()
