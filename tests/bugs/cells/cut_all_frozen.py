"""The whole network was frozen, its new head too: backward does nothing, without a word."""

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
