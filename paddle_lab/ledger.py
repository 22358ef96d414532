"""The ledger: what each cell of a session did to memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, overload

_MOST_ENTRIES = 10_000

PeakSource = Literal["allocator", "partial", "counter", "sampled", "unknown"]


@dataclass(frozen=True)
class Entry:
    """One cell's line in the ledger.

    Parameters
    ----------
    cell
        Execution count, ``"Cell 7"``'s 7.
    place
        ``"cpu"``, ``"gpu:0"``: where most was allocated.
    before_bytes, after_bytes
        What Paddle had allocated when the cell began and when it ended.
    peak_bytes
        The most it had allocated meanwhile, -1 where nobody knows.
    peak_source
        ``"allocator"``: every allocation was seen. ``"partial"``: some were not, so at least this
        much. ``"counter"``: Paddle's own peak rose in this cell. ``"sampled"``: at least this much.
        ``"unknown"``: less than an earlier peak.
    alive_bytes
        What the cell allocated and left alive, -1 where nobody recorded it.
    held_by
        Who holds that: names with their bytes, the largest first.
    """

    cell: int
    place: str
    before_bytes: int
    after_bytes: int
    peak_bytes: int = -1
    peak_source: PeakSource = "unknown"
    alive_bytes: int = -1
    held_by: Sequence[tuple[str, int]] = ()


class Ledger(Sequence[Entry]):
    """The entries of a session, the oldest first; the oldest of very many are let go."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    def add(self, entry: Entry) -> None:
        """Add a cell that has ended."""
        self._entries.append(entry)
        if len(self._entries) > _MOST_ENTRIES:
            del self._entries[: _MOST_ENTRIES // 10]

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | Sequence[Entry]:
        return self._entries[index]
