"""Classifiers of ``paddle.vision.models`` that are built for accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import paddle
from paddle import nn
from paddle.vision import models

from tests.models.step import Build, Step, seed, training_step

if TYPE_CHECKING:
    from collections.abc import Callable


def classifier(
    make: Callable[[], nn.Layer], *, resolution_px: int = 64, channels: int = 3, classes: int = 10
) -> Build:
    """Return a build of a classifier's step on two random images of ten classes."""

    def build() -> Step:
        seed()
        network = make()
        images = paddle.randn([2, channels, resolution_px, resolution_px])
        labels = paddle.randint(0, classes, [2])
        criterion = nn.CrossEntropyLoss()
        optimizer = paddle.optimizer.Momentum(
            learning_rate=0.01, parameters=network.parameters(), weight_decay=1e-4
        )

        def forward() -> paddle.Tensor:
            scores = network(images)
            if isinstance(scores, (list, tuple)):  # GoogLeNet: main and two auxiliary heads
                losses = [criterion(head, labels) for head in scores]
                return losses[0] + 0.3 * (losses[1] + losses[2])
            return criterion(scores, labels)

        return training_step(network, forward, optimizer=optimizer)

    return build


def small_vgg11() -> nn.Layer:
    """VGG-11's features under a small head: its own has 120 million parameters."""
    return nn.Sequential(
        models.vgg11(num_classes=0), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(512, 10)
    )


MODELS: dict[str, Build] = {
    "lenet": classifier(models.LeNet, resolution_px=28, channels=1),
    "alexnet": classifier(lambda: models.alexnet(num_classes=10), resolution_px=224),
    "vgg11": classifier(small_vgg11, resolution_px=32),
    "resnet18": classifier(lambda: models.resnet18(num_classes=10)),
    "resnet50": classifier(lambda: models.resnet50(num_classes=10)),
    "resnext50": classifier(lambda: models.resnext50_32x4d(num_classes=10), resolution_px=32),
    "densenet121": classifier(lambda: models.densenet121(num_classes=10)),
    "googlenet": classifier(lambda: models.googlenet(num_classes=10), resolution_px=224),
    "inception_v3": classifier(lambda: models.inception_v3(num_classes=10), resolution_px=128),
}
