"""The accuracy is used as the loss: backward silently does nothing."""

import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Flatten(), nn.Linear(16, 5))
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
images, labels = paddle.randn([8, 4, 4]), paddle.randint(0, 5, [8])
for _ in range(2):
    logits = net(images)
    predicted = logits.argmax(axis=-1)  # BUG: gradient-cut
    wrong = (predicted != labels).astype("float32")
    loss = wrong.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
