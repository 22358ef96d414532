"""Which blocks were freed while the log was being cut."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle_lab.capture.memory.held.blocks import ALIVE, Blocks
from paddle_lab.capture.memory.held.counted_totals import Gap


def end_missed_blocks(blocks: Blocks, gaps: Sequence[Gap], held: set[int]) -> int:
    """End the blocks whose free was missed, where it is plain which they are.

    Parameters
    ----------
    blocks
        Changed in place.
    held
        Blocks in which a living tensor is stored.

    Returns
    -------
    int
        Bytes of which it is not known what became of them.
    """
    unknown_bytes = 0
    for gap in gaps:
        is_there = (blocks.place == gap.place) & (blocks.end_ns == ALIVE)
        is_there &= (blocks.start_ns < gap.time_ns) & (blocks.start_ns >= 0)
        candidates = np.setdiff1d(np.flatnonzero(is_there), list(held))
        missed = _choose(blocks.bytes[candidates].tolist(), -gap.bytes)
        blocks.end_ns[candidates[missed]] = gap.time_ns
        if missed.start == missed.stop:
            unknown_bytes += abs(gap.bytes)
    return unknown_bytes


def _choose(sizes: list[int], total: int) -> slice:
    """Return the latest run of ``sizes`` that adds up to ``total``, or none."""
    end, total_here = len(sizes), 0
    for start in range(len(sizes) - 1, -1, -1):
        total_here += sizes[start]
        while total_here > total and end > start:
            end -= 1
            total_here -= sizes[end]
        if total_here == total and end > start:
            return slice(start, end)
    return slice(0, 0)
