"""What backward calls begin with: the gradients that they are given, ones where they are not.

It is known before the call runs. The root's own node would tell no more: many write over it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from paddle_lab.capture.backward_graph.graphs import flat
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.values.statistics import Seen, is_scanned, look_at

NO_EDGE = -1
"""Stands for what a backward call begins with."""


def starts(roots: Any, gradients: Any) -> Iterator[tuple[Any, Seen]]:
    """Yield the roots of a backward call, each with what is in the gradient that it begins with.

    Parameters
    ----------
    roots
        Tensors, as they were given to the call.
    gradients
        As many gradients or None; nothing for ones alone.
    """
    tensors = flat(roots)
    given = flat(gradients) if gradients else [None] * len(tensors)
    for tensor, gradient in zip(tensors, given, strict=False):
        is_ones = gradient is None
        seen = _ones_like(tensor) if is_ones else look_at(gradient, with_histogram=True)
        if seen is not None:
            yield tensor, seen


def _ones_like(tensor: Any) -> Seen | None:
    """Return what there is to see in ones, without making any."""
    elements = math.prod(tensor.shape)
    if not (elements and DOOR.is_initialized(tensor) and is_scanned(tensor.dtype)):
        return None
    histogram = np.array([0, 0, elements], np.int64).tobytes()
    scanned = 0, 0, 0, 1.0, 1.0, float(elements), float(elements), histogram
    return tuple(tensor.shape), tensor.dtype, elements, scanned
