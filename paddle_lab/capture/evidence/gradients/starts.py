"""The gradients with which backward calls begin: the user's gradients, or ones.

They are read before the call runs, because many root nodes overwrite them.
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
"""The edge of a gradient with which a backward call begins."""


def starts(roots: Any, gradients: Any, decimals: int | None = None) -> Iterator[tuple[Any, Seen]]:
    """Yield the roots of a backward call, each with the statistics of its first gradient.

    Parameters
    ----------
    roots
        The tensors that were passed to the call.
    gradients
        A gradient or None for each tensor; empty if all gradients are ones.
    decimals
        See :func:`~paddle_lab.capture.evidence.values.statistics.look_at`.
    """
    tensors = flat(roots)
    given = flat(gradients) if gradients else [None] * len(tensors)
    for tensor, gradient in zip(tensors, given, strict=False):
        is_ones = gradient is None
        if is_ones:
            seen = _ones_like(tensor)
        else:
            seen = look_at(gradient, with_histogram=True, decimals=decimals)
        if seen is not None:
            yield tensor, seen


def _ones_like(tensor: Any) -> Seen | None:
    """Return the result of a scan of ones, without creating a tensor of ones."""
    elements = math.prod(tensor.shape)
    if not (elements and DOOR.is_initialized(tensor) and is_scanned(tensor.dtype)):
        return None
    histogram = np.array([0, 0, elements], np.int64).tobytes()
    scanned = 0, 0, 0, 1.0, 1.0, float(elements), float(elements), histogram, 0.0, None
    return tuple(tensor.shape), tensor.dtype, elements, scanned
