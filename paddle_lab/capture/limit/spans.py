"""Which ops a limited trace keeps: spans of their keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

OPEN: Final = (1 << 63) - 1
"""The end of a span that still goes on."""


class Span(NamedTuple):
    """Ops that ran one after the other."""

    first: int
    end: int
    """The key after the last one's."""


def is_inside(keys: Keys, spans: Sequence[Span]) -> Mask:
    """Tell which ops are kept.

    Parameters
    ----------
    keys
        Of ops.
    spans
        Ascending, and apart from each other.
    """
    firsts = np.array([span.first for span in spans], np.int64)
    ends = np.array([span.end for span in spans], np.int64)
    span = np.searchsorted(firsts, keys, side="right") - 1
    found: Mask = (span >= 0) & (keys < ends[span])
    return found
