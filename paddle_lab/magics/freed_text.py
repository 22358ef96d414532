"""The text that ``%paddle_mem free`` shows."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.words import listing, say

_MOST_NAMES = 6


def freed_text(let_go: Sequence[str], *, by_letting_go_bytes: int, from_cycles_bytes: int) -> str:
    """Return a sentence about how much memory was freed, and how.

    Parameters
    ----------
    let_go
        The names that were released, such as ``"Out[5]"``.
    by_letting_go_bytes
        The bytes that were freed when these names were released.
    from_cycles_bytes
        The bytes that were freed before by collecting reference cycles.
    """
    names = listing(list(dict.fromkeys(let_go)), most=_MOST_NAMES)
    ways = []
    if let_go and by_letting_go_bytes > 0:
        ways.append((by_letting_go_bytes, say("magics.free.by_letting_go", names=names)))
    if from_cycles_bytes > 0:
        ways.append((from_cycles_bytes, say("magics.free.from_cycles")))
    if len(ways) > 1:
        parts = say("lists.between").join(
            say("magics.free.part", size=size_text(size), way=way) for size, way in ways
        )
        size = size_text(sum(size for size, _ in ways))
        return say("magics.free.freed_by", size=size, parts=parts)
    if ways:
        return say("magics.free.freed", size=size_text(ways[0][0]), way=ways[0][1])
    if let_go:
        return say("magics.free.in_vain", names=names)
    return say("magics.free.nothing")
