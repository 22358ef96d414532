"""The turns of loops, told from the order in which positions of a function's body are reached."""

from __future__ import annotations


class Entries:
    """What positions of one function's body brought about, in order: an op each, or a call."""

    def __init__(self) -> None:
        self.positions: list[int] = []
        """Equal numbers for equal positions."""
        self.lines: list[int] = []
        """In that function."""
        self.functions: list[str] = []
        """What the position calls; ``""`` for no function of the user's."""
        self.starts: list[int] = []
        """Where each entry's items start, and last where they end."""

    def add(self, position: int, line: int, function: str, start: int) -> None:
        """Append an entry."""
        self.positions.append(position)
        self.lines.append(line)
        self.functions.append(function)
        self.starts.append(start)


def loops(entries: Entries) -> list[list[int]]:
    """Return where the turns of each outermost loop start, and last where its last turn ends.

    A loop is where a position comes again after another one.
    """
    positions, lines = entries.positions, entries.lines
    if len(set(positions)) == len(positions):
        return []
    runs_of_position: dict[int, list[int]] = {}
    before: int | None = None
    for i, position in enumerate(positions):
        if position != before:
            runs_of_position.setdefault(position, []).append(i)
        before = position
    loops: list[list[int]] = []
    end = 0
    # Positions are in the order of their first run: of those that come again, the first one is
    # the outermost loop's.
    for runs in runs_of_position.values():
        turns = [run for run in runs if run >= end] if len(runs) > 1 else runs
        if len(turns) < 2:
            continue
        first, end = turns[0], turns[-1]
        met = set(positions[first:end])
        last_line = max(lines[first:end])
        # The last turn may do what no other one did, between the loop's first line and its last.
        while end < len(positions) and (
            positions[end] in met or lines[first] <= lines[end] < last_line
        ):
            end += 1
        loops.append([*turns, end])
    return loops
