"""A U-Net: skip connections across the whole depth, transposed and strided convolutions."""

from __future__ import annotations

import paddle
from paddle import Tensor, nn

from tests.models.step import Build, Step, seed, training_step


class DoubleConvolution(nn.Sequential):
    """Two 3x3 convolutions with batch normalisation."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(
            nn.Conv2D(inputs, outputs, 3, padding=1, bias_attr=False),
            nn.BatchNorm2D(outputs),
            nn.ReLU(),
            nn.Conv2D(outputs, outputs, 3, padding=1, bias_attr=False),
            nn.BatchNorm2D(outputs),
            nn.ReLU(),
        )


class UNet(nn.Layer):
    """Three levels; one max-pooling layer object serves all of them."""

    def __init__(self, widths: tuple[int, ...] = (4, 8, 16)) -> None:
        super().__init__()
        self.down = nn.LayerList(
            [DoubleConvolution(i, o) for i, o in zip((3, *widths), widths, strict=False)]
        )
        self.pool = nn.MaxPool2D(2)
        self.up = nn.LayerList(
            [nn.Conv2DTranspose(2 * w, w, 2, stride=2) for w in reversed(widths[:-1])]
        )
        self.merge = nn.LayerList([DoubleConvolution(2 * w, w) for w in reversed(widths[:-1])])
        self.head = nn.Conv2D(widths[0], 2, 1)

    def forward(self, image: Tensor) -> Tensor:
        """Return two scores a pixel."""
        skips = []
        for level, block in enumerate(self.down):
            image = block(self.pool(image) if level else image)
            skips.append(image)
        image = skips.pop()
        for up, merge in zip(self.up, self.merge, strict=True):
            image = merge(paddle.concat([skips.pop(), up(image)], axis=1))
        return self.head(image)


def segmentation() -> Step:
    """Segment two random images, cross entropy a pixel."""
    seed()
    network = UNet()
    images = paddle.randn([2, 3, 32, 32])
    truth = paddle.randint(0, 2, [2, 32, 32])

    def forward() -> Tensor:
        scores = network(images).transpose([0, 2, 3, 1])
        return nn.functional.cross_entropy(scores, truth)

    return training_step(network, forward)


MODELS: dict[str, Build] = {"unet": segmentation}
