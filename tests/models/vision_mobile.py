"""Classifiers of ``paddle.vision.models`` that are built for small devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle.vision import models

from tests.models.vision import classifier

if TYPE_CHECKING:
    from tests.models.step import Build

MODELS: dict[str, Build] = {
    "mobilenet_v1": classifier(lambda: models.mobilenet_v1(num_classes=10)),
    "mobilenet_v2": classifier(lambda: models.mobilenet_v2(num_classes=10)),
    "mobilenet_v3_small": classifier(lambda: models.mobilenet_v3_small(num_classes=10)),
    "mobilenet_v3_large": classifier(lambda: models.mobilenet_v3_large(num_classes=10)),
    "squeezenet": classifier(lambda: models.squeezenet1_1(num_classes=10)),
    "shufflenet_v2": classifier(lambda: models.shufflenet_v2_x0_25(num_classes=10)),
}
