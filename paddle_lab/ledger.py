"""The ledger: how each cell of a session changed memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

PeakSource = Literal["allocator", "partial", "counter", "sampled", "unknown"]


@dataclass(frozen=True)
class Entry:
    """The entry of a cell in the ledger.

    Parameters
    ----------
    cell
        The execution count of the cell: 7 for ``"Cell 7"``.
    place
        The place with the most allocated memory: ``"cpu"`` or ``"gpu:0"``.
    before_bytes, after_bytes
        The bytes that Paddle had allocated when the cell began and when it ended.
    peak_bytes
        The largest number of bytes allocated while the cell ran, -1 if unknown.
    peak_source
        ``"allocator"``: every allocation was recorded. ``"partial"``: some allocations were not
        recorded, so the peak is a lower bound. ``"counter"``: Paddle's own peak rose in this cell.
        ``"sampled"``: the largest sample, which is a lower bound. ``"unknown"``: Paddle's peak did
        not rise in this cell.
    alive_bytes
        The bytes that the cell allocated and did not free, -1 if memory was not recorded.
    held_by
        The holders of these bytes: names and bytes, the largest first.
    """

    cell: int
    place: str
    before_bytes: int
    after_bytes: int
    peak_bytes: int = -1
    peak_source: PeakSource = "unknown"
    alive_bytes: int = -1
    held_by: Sequence[tuple[str, int]] = ()
