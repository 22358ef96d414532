"""A port from PyTorch keeps momentum=0.1; in Paddle it is the share that the old average keeps."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(
    nn.Conv2D(3, 8, 3, padding=1),
    nn.BatchNorm2D(8, momentum=0.1),  # WRONG
    #= nn.BatchNorm2D(8, momentum=0.9),
    nn.ReLU(),
    nn.AdaptiveAvgPool2D(1),
    nn.Flatten(),
    nn.Linear(8, 4),
)
opt = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
for step in range(4):
    loss = nn.functional.cross_entropy(net(paddle.randn([8, 3, 8, 8])), paddle.randint(0, 4, [8]))  # OR
    loss.backward()
    opt.step()
    opt.clear_grad()
