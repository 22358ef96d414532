"""A U-Net for segmentation: an auxiliary loss, dice and focal loss, metrics by class."""

import paddle
from paddle import nn
from paddle.nn import functional as F


def block(inward, outward):
    return nn.Sequential(
        nn.Conv2D(inward, outward, 3, padding=1, bias_attr=False),
        nn.BatchNorm2D(outward),
        nn.ReLU(),
    )


class Net(nn.Layer):
    def __init__(self, classes=3):
        super().__init__()
        self.down1, self.down2, self.middle = block(3, 8), block(8, 16), block(16, 16)
        self.up = nn.Conv2DTranspose(16, 16, 2, stride=2)
        self.up2, self.out = block(32, 8), nn.Conv2D(8, classes, 1)
        self.aside = nn.Conv2D(16, classes, 1)

    def forward(self, x):
        first = self.down1(x)
        second = self.down2(F.max_pool2d(first, 2))
        middle = self.middle(F.max_pool2d(second, 2))
        h = self.up2(paddle.concat([self.up(middle), second], 1))
        main = F.interpolate(self.out(h), scale_factor=2, mode="bilinear")
        if not self.training:
            return main
        return main, F.interpolate(self.aside(middle), scale_factor=4, mode="bilinear")


def dice(logits, target):
    chances, wanted = F.softmax(logits, 1), F.one_hot(target, 3).transpose([0, 3, 1, 2])
    both = (chances * wanted).sum([2, 3])
    return 1 - ((2 * both + 1) / (chances.sum([2, 3]) + wanted.sum([2, 3]) + 1)).mean()


def focal(logits, target, gamma=2.0):
    log_chance = F.cross_entropy(logits, target, axis=1, reduction="none")
    return ((1 - (-log_chance).exp()) ** gamma * log_chance).mean()


paddle.seed(43)
net = Net()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
confusion = paddle.zeros([3, 3])
for _ in range(3):
    image, mask = paddle.rand([2, 3, 16, 16]), paddle.randint(0, 3, [2, 16, 16])
    main, aside = net(image)
    loss = dice(main, mask) + focal(main, mask) + 0.4 * F.cross_entropy(aside, mask, axis=1)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    predicted = main.detach().argmax(1)
    confusion += F.one_hot(mask.flatten(), 3).T @ F.one_hot(predicted.flatten(), 3)
print(confusion.diag() / confusion.sum(1))
