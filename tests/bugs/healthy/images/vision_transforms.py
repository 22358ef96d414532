"""Images with transforms from a DataLoader, and a small network of Paddle's."""

import numpy as np
import paddle
from PIL import Image
from paddle.io import DataLoader, Dataset
from paddle.nn import functional as F
from paddle.vision import models, transforms


class Images(Dataset):
    def __init__(self):
        super().__init__()
        self.draw = np.random.default_rng(0)
        self.transform = transforms.Compose(
            [
                transforms.RandomHorizontalFlip(),
                transforms.ToTensor(),
                transforms.Normalize([0.5] * 3, [0.5] * 3),
            ]
        )

    def __getitem__(self, index):
        image = Image.fromarray(self.draw.integers(0, 256, size=(32, 32, 3)).astype("uint8"))
        return self.transform(image), index % 3

    def __len__(self):
        return 8


paddle.seed(50)
net = models.mobilenet_v3_small(num_classes=3)
optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
for x, y in DataLoader(Images(), batch_size=4, shuffle=True):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
