"""The whole network including its new head was frozen: backward silently does nothing."""

import paddle
from paddle.vision.models import LeNet

paddle.seed(0)
net = LeNet(num_classes=4)
for parameter in net.parameters():
    parameter.stop_gradient = True
optimizer = paddle.optimizer.Adam(parameters=net.parameters())

logits = net(paddle.randn([2, 1, 28, 28]))
loss = paddle.nn.functional.cross_entropy(logits, paddle.to_tensor([0, 3]))
loss.backward()  # BUG: gradient-cut
optimizer.step()
