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


def is_between(counts: Keys, spans: Sequence[Span]) -> Mask:
    """Tell which moments lie in a span, both of its ends included.

    Parameters
    ----------
    counts
        Of each moment, how many ops had a key.
    """
    return is_inside(counts, spans) | is_inside(counts - 1, spans)


def is_of_kept(keys: Keys, used: Keys, is_kept: Mask) -> Mask:
    """Tell which keys were given while kept ops ran.

    What nobody uses has no op, but keys count upwards: such a key came before the first op that
    used a higher one.

    Parameters
    ----------
    keys
        Of scopes, say, in any order.
    used
        Of each op, by time, the highest such key that it uses, -1 for none.
    is_kept
        Whether the op is kept.

    Returns
    -------
    numpy.ndarray
        Keys higher than all that ops used are told kept.
    """
    position = np.searchsorted(np.maximum.accumulate(used), keys) if len(used) else keys * 0
    return np.append(is_kept, True)[position]
