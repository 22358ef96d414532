"""Places for lines that go round rows: shorter ones nearer, none on top of another."""

from __future__ import annotations

from collections.abc import Sequence


def assign_lanes(spans: Sequence[tuple[int, int]], *, most: int) -> list[int]:
    """Return a lane for each span of rows, from 0 (nearest).

    Parameters
    ----------
    spans
        First and last row of each line, first < last. Lines that start at the same row, or end
        at the same row, may share a lane: they are read as one line that branches.
    most
        How many lanes there are; the last one takes what fits nowhere.
    """
    lanes: list[list[tuple[int, int]]] = [[] for _ in range(most)]
    answer = [0] * len(spans)
    for i in sorted(range(len(spans)), key=lambda i: (spans[i][1] - spans[i][0], spans[i])):
        first, last = spans[i]
        for lane, taken in enumerate(lanes):
            is_last = lane == most - 1
            if is_last or not any(a < last and first < b for a, b in taken):
                taken.append((first, last))
                answer[i] = lane
                break
    return answer
