"""The hooks that note what is no op: installed with all the others, in every trace."""

from __future__ import annotations

from typing import Any

from paddle_lab.capture.evidence.creations import creation_patches
from paddle_lab.capture.evidence.gradient_modes import gradient_mode_patches
from paddle_lab.capture.evidence.gradient_stops import gradient_stop_patches
from paddle_lab.capture.evidence.optimizers import optimizer_patches
from paddle_lab.capture.evidence.overwrites import overwrite_patches
from paddle_lab.capture.evidence.reads import read_patches
from paddle_lab.capture.patches import AttributePatch


def event_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches that fill ``events``; none of them stands in the way of an op."""
    return [
        *read_patches(paddle),
        *creation_patches(paddle),
        *overwrite_patches(paddle),
        *gradient_stop_patches(paddle),
        *gradient_mode_patches(paddle),
        *optimizer_patches(paddle),
    ]
