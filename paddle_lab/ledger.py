"""The ledger: what each cell of a session did to memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

PeakSource = Literal["allocator", "partial", "counter", "sampled", "unknown"]


@dataclass(frozen=True)
class Entry:
    """One cell's line in the ledger.

    Parameters
    ----------
    cell
        Execution count, ``"Cell 7"``'s 7.
    place
        ``"cpu"``, ``"gpu:0"``: the place with the most allocated memory.
    before_bytes, after_bytes
        What Paddle had allocated when the cell began and when it ended.
    peak_bytes
        The most it had allocated meanwhile, -1 if that is unknown.
    peak_source
        ``"allocator"``: every allocation was seen. ``"partial"``: some were not, so at least this
        much. ``"counter"``: Paddle's own peak rose in this cell. ``"sampled"``: at least this much.
        ``"unknown"``: less than an earlier peak.
    alive_bytes
        What the cell allocated and left alive, -1 if memory was not recorded.
    held_by
        The holders of that: names with their bytes, the largest first.
    """

    cell: int
    place: str
    before_bytes: int
    after_bytes: int
    peak_bytes: int = -1
    peak_source: PeakSource = "unknown"
    alive_bytes: int = -1
    held_by: Sequence[tuple[str, int]] = ()
