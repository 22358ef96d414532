"""Real models as small training steps, which a trace must record completely and not change.

Each file has one family. A model is a function without arguments that builds a seeded network and
returns its :class:`~tests.models.step.Step`. ``MODELS`` run eagerly, ``STATIC_MODELS`` through
``paddle.jit.to_static``.
"""

from __future__ import annotations

from tests.models import (
    accumulation,
    attention,
    autoencoder,
    embedding,
    fourier,
    gan,
    in_place,
    language,
    mixed_precision,
    pinn,
    recomputation,
    recurrent,
    scientific,
    static,
    unet,
    vision,
    vision_mobile,
)
from tests.models.step import BeforeBackward, Build, Result, Step

_EAGER = (
    vision,
    vision_mobile,
    attention,
    recurrent,
    language,
    gan,
    pinn,
    fourier,
    scientific,
    unet,
    autoencoder,
    accumulation,
    mixed_precision,
    recomputation,
    embedding,
    in_place,
)

MODELS: dict[str, Build] = {
    name: build for family in _EAGER for name, build in family.MODELS.items()
}
STATIC_MODELS: dict[str, Build] = static.MODELS

__all__ = ["MODELS", "STATIC_MODELS", "BeforeBackward", "Build", "Result", "Step"]
