"""What a static picture shows of a trace: rows in execution order, frames around them.

Groups are opened from the outside in as long as the rows fit. Siblings that are built alike are
drawn once: ``layers.0–11 ×12`` is a frame around the rows of ``layers.0``.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.trees import Keys, nearest_marked
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import GROUP_KINDS
from paddle_lab.views.svg.group_items import GroupItems, Item

_OPTIMIZER = GROUP_KINDS.index("optimizer")


@dataclass
class Row:
    """One line of the picture."""

    item: Item
    hidden: Sequence[Item] = ()
    """Items that this row stands for because there are too many to show."""


@dataclass
class Frame:
    """An open group around rows ``first`` to ``last``."""

    item: Item
    depth: int
    first: int
    last: int = -1


@dataclass
class Folded:
    """Rows and frames, and where every op is found in them."""

    rows: list[Row] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    row_of_op: Keys = field(default_factory=lambda: np.empty(0, np.int32))
    """Row of each op, int32, shape ``[ops]``; ops of repeated blocks have the first one's rows."""
    is_shown: npt.NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))
    """Whether an op is in its row itself, not a repetition of what is; shape ``[ops]``."""


def fold(record: Record, *, depth: int | None = None, most_rows: int = 60) -> Folded:
    """Choose what to show.

    Parameters
    ----------
    record
        A record with answer tables.
    depth
        How many levels of groups to open; as many as fit ``most_rows`` by default.
    most_rows
        Where even the outermost level has more, a gap stands for those in the middle.
    """
    return _Folder(record, most_rows).fold(depth)


class _Folder:
    def __init__(self, record: Record, most_rows: int) -> None:
        self._most_rows = most_rows
        groups = record.groups
        self._parent = groups["parent"]
        self._kind = groups["kind"].tolist()
        self._first_op = groups["first_op"].tolist()
        self._op_count = groups["op_count"].tolist()
        self._op_group = record.op_groups["group"]
        self._items = GroupItems(record, most_rows)

    def fold(self, depth: int | None) -> Folded:
        opened = self._open(depth)
        folded = Folded()
        self._emit(folded, opened)
        self._place_ops(folded)
        return folded

    def _open(self, depth: int | None) -> set[int]:
        """Return the groups to open: the first one of an item stands for all of it."""
        opened: set[int] = set()
        count = len(self._items.of(-1))
        waiting = [entry for item in self._items.of(-1) for entry in self._candidate(item, 0)]
        heapq.heapify(waiting)
        while waiting:
            level, _, group = heapq.heappop(waiting)
            inside = self._items.of(group)
            if level >= depth if depth is not None else count + len(inside) - 1 > self._most_rows:
                continue
            count += len(inside) - 1
            opened.add(group)
            for item in inside:
                for entry in self._candidate(item, level + 1):
                    heapq.heappush(waiting, entry)
        return opened

    def _candidate(self, item: Item, level: int) -> list[tuple[int, int, int]]:
        if not item.groups:
            return []
        group = item.groups[0]
        if self._op_count[group] < 2 or self._kind[group] == _OPTIMIZER:
            return []
        return [(level, self._first_op[group], group)]

    def _emit(self, folded: Folded, opened: set[int]) -> None:
        waiting: list[tuple[Item | Frame, int]] = [
            (item, 0) for item in reversed(self._items.of(-1))
        ]
        while waiting:
            item, depth = waiting.pop()
            if isinstance(item, Frame):
                item.last = len(folded.rows) - 1
            elif item.groups and item.groups[0] in opened:
                frame = Frame(item, depth, len(folded.rows))
                folded.frames.append(frame)
                waiting.append((frame, depth))
                inside = self._items.of(item.groups[0])
                waiting.extend((part, depth + 1) for part in reversed(inside))
            else:
                folded.rows.append(Row(item))
        if len(folded.rows) > self._most_rows:
            _shorten(folded, self._most_rows)

    def _place_ops(self, folded: Folded) -> None:
        row_of_op = np.full(len(self._op_group), -1, np.int32)
        row_of_group = np.full(len(self._parent) + 1, -1, np.int32)
        for i, row in enumerate(folded.rows):
            for item in (row.item, *row.hidden):
                if item.op >= 0:
                    row_of_op[item.op] = i
                elif item.middle:
                    row_of_op[list(item.middle)] = i
                row_of_group[list(item.groups)] = i
        closed = nearest_marked(self._parent, row_of_group[:-1] >= 0)
        row_of_group = row_of_group[np.append(closed, -1)]
        is_inside = row_of_op < 0
        row_of_op[is_inside] = row_of_group[self._op_group[is_inside]]
        folded.is_shown = row_of_op >= 0
        # A repeated block has its ops at the same distances as the first one. The innermost
        # repetition comes last among the frames.
        for frame in reversed(folded.frames):
            first, *others = frame.item.groups
            start, count = self._first_op[first], self._op_count[first]
            for other in others:
                end = self._first_op[other] + count
                if end <= len(row_of_op):
                    row_of_op[self._first_op[other] : end] = row_of_op[start : start + count]
        folded.row_of_op = row_of_op


def keep_rows(folded: Folded, kept: npt.NDArray[np.bool_]) -> None:
    """Take away rows, and frames that are left empty.

    Parameters
    ----------
    folded
        Changed in place.
    kept
        bool, shape ``[rows]``.
    """
    rows_before = np.append(0, np.cumsum(kept))
    new_row = np.append(np.where(kept, rows_before[:-1], -1), -1)
    folded.rows = [row for row, is_kept in zip(folded.rows, kept.tolist(), strict=True) if is_kept]
    folded.row_of_op = new_row[folded.row_of_op].astype(np.int32)
    folded.is_shown = folded.is_shown & (folded.row_of_op >= 0)
    for frame in folded.frames:
        frame.first, frame.last = (
            int(rows_before[frame.first]),
            int(rows_before[frame.last + 1]) - 1,
        )
    folded.frames = [frame for frame in folded.frames if frame.first <= frame.last]


def _shorten(folded: Folded, most_rows: int) -> None:
    """Let one row stand for those in the middle; more of the beginning is kept than of the end."""
    rows, start = folded.rows, most_rows * 2 // 3
    end = len(rows) - (most_rows - start - 1)
    hidden = [row.item for row in rows[start:end]]
    removed = end - start - 1
    rows[start:end] = [Row(Item(), hidden)]
    for frame in folded.frames:
        frame.first = frame.first if frame.first <= start else max(start, frame.first - removed)
        frame.last = frame.last if frame.last <= start else max(start, frame.last - removed)
    folded.frames = [
        frame for frame in folded.frames if (frame.first, frame.last) != (start, start)
    ]
