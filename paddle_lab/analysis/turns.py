"""The turns of loops, told from the order in which positions of a function's body are reached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Item(NamedTuple):
    """An op or a group that is directly in the container being divided."""

    op: int  # of a group: its first op
    group: int  # -1 for an op
    identity: tuple[object, ...]  # what is equal where the same code runs again
    chain: tuple[int, ...]  # stacks of the user's frames, outermost first


class Entry(NamedTuple):
    """Items that one position of one function's body brought about: an op, or a call."""

    position: tuple[object, ...]
    line: int  # in that function
    function: str  # "" where the position calls no function of the user's
    items: Sequence[Item]


def loops(entries: Sequence[Entry]) -> list[list[int]]:
    """Return where the turns of each outermost loop start, and last where its last turn ends.

    A loop is where a position comes again after another one.
    """
    runs_of_position: dict[tuple[object, ...], list[int]] = {}
    for i, entry in enumerate(entries):
        if not i or entry.position != entries[i - 1].position:
            runs_of_position.setdefault(entry.position, []).append(i)
    loops: list[list[int]] = []
    end = 0
    # Positions are in the order of their first run: of those that come again, the first one is
    # the outermost loop's.
    for runs in runs_of_position.values():
        turns = [run for run in runs if run >= end] if len(runs) > 1 else runs
        if len(turns) < 2:
            continue
        body = entries[turns[0] : turns[-1]]
        met = {entry.position for entry in body}
        last_line = max(entry.line for entry in body)
        end = turns[-1]
        # The last turn may do what no other one did, between the loop's first line and its last.
        while end < len(entries) and (
            entries[end].position in met or body[0].line <= entries[end].line < last_line
        ):
            end += 1
        loops.append([*turns, end])
    return loops
