"""The rows of a static picture, in execution order, and the frames around them.

Groups are opened, the outer ones first, as long as the rows fit. Siblings that are built alike are
drawn once: ``layers.0–11 ×12`` is a frame around the rows of ``layers.0``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import GROUP_KINDS
from paddle_lab.trace.trees import Keys, grouped, nearest_marked
from paddle_lab.views.svg.group_items import GroupItems, Item

_OPTIMIZER = GROUP_KINDS.index("optimizer")


@dataclass
class Frame:
    """A frame around rows ``first`` to ``last``, which are in an open group."""

    item: Item
    depth: int
    first: int
    last: int = -1


@dataclass
class Folded:
    """Rows and frames, and the row of each op."""

    rows: list[Item] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    row_of_op: Keys = field(default_factory=lambda: np.empty(0, np.int32))
    """Row of each op, int32, shape ``[ops]``; ops of repeated blocks have the first one's rows."""
    is_shown: npt.NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))
    """Whether an op is in a row itself, and not in a repeated block; shape ``[ops]``."""


def fold(record: Record, *, depth: int | None = None, most_rows: int = 60) -> Folded:
    """Choose the rows and frames to show.

    Parameters
    ----------
    record
        A record with answer tables.
    depth
        How many levels of groups to open; by default as many as fit into ``most_rows``.
    most_rows
        The largest number of rows. If even the outermost level has more, a gap replaces the rows in
        the middle.
    """
    items = GroupItems(record, most_rows)
    folded = _arranged(items, _opened(record, items, depth, most_rows))
    if len(folded.rows) > most_rows:
        _shorten(folded, most_rows)
    _place_ops(record, folded)
    return folded


def _opened(record: Record, items: GroupItems, depth: int | None, most_rows: int) -> set[int]:
    """Return the groups to open. An item is represented by its first group."""
    may_open = (record.groups["op_count"] > 1) & (record.groups["kind"] != _OPTIMIZER)
    opened: set[int] = set()
    waiting = deque((item, 0) for item in items.of(-1))
    count = len(waiting)
    # If there are already more items than rows, none can be opened.
    while waiting and (depth is not None or count <= most_rows):
        item, level = waiting.popleft()
        if not item.groups or not may_open[item.groups[0]]:
            continue
        inside = items.of(item.groups[0])
        with_inside = count + len(inside) - 1
        if with_inside > most_rows if depth is None else level >= depth:
            continue
        count = with_inside
        opened.add(item.groups[0])
        waiting.extend((part, level + 1) for part in inside)
    return opened


def _arranged(items: GroupItems, opened: set[int]) -> Folded:
    """Return rows and frames in execution order."""
    folded = Folded()
    waiting: list[tuple[Item | Frame, int]] = [(item, 0) for item in reversed(items.of(-1))]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, Frame):
            item.last = len(folded.rows) - 1
        elif item.groups and item.groups[0] in opened:
            frame = Frame(item, depth, len(folded.rows))
            folded.frames.append(frame)
            waiting.append((frame, depth))
            inside = items.of(item.groups[0])
            waiting.extend((part, depth + 1) for part in reversed(inside))
        else:
            folded.rows.append(item)
    return folded


def _shorten(folded: Folded, most_rows: int) -> None:
    """Replace the rows in the middle by a gap. Keep more rows at the beginning than at the end."""
    rows, start = folded.rows, most_rows * 2 // 3
    end = len(rows) - (most_rows - start - 1)
    hidden, removed = rows[start:end], end - start - 1
    ops, groups = (chain(*(getattr(item, name) for item in hidden)) for name in ("ops", "groups"))
    rows[start:end] = [Item(tuple(ops), tuple(groups), is_gap=True)]
    for frame in folded.frames:
        frame.first = frame.first if frame.first <= start else max(start, frame.first - removed)
        frame.last = frame.last if frame.last <= start else max(start, frame.last - removed)
    folded.frames = [
        frame for frame in folded.frames if (frame.first, frame.last) != (start, start)
    ]


def _place_ops(record: Record, folded: Folded) -> None:
    """Store the row of each op in ``folded``."""
    op_group, parent = record.op_groups["group"], record.groups["parent"]
    row_of_op = np.full(len(op_group), -1, np.int32)
    row_of_group = np.full(len(parent) + 1, -1, np.int32)
    for i, item in enumerate(folded.rows):
        row_of_op[list(item.ops)] = i
        row_of_group[list(item.groups)] = i
    closed = nearest_marked(parent, row_of_group[:-1] >= 0)
    row_of_group = row_of_group[np.append(closed, -1)]
    is_inside = row_of_op < 0
    row_of_op[is_inside] = row_of_group[op_group[is_inside]]
    folded.is_shown = row_of_op >= 0
    # A repeated block has the same ops in the same order as the first block. Inner repetitions come
    # later in the list of frames, so they are handled first.
    for frame in reversed(folded.frames):
        first, *others = frame.item.groups
        if not others:
            continue
        is_member = np.isin(np.arange(len(parent)), frame.item.groups)
        inside = grouped(np.append(nearest_marked(parent, is_member), -1)[op_group])
        rows = row_of_op[inside[first]]
        for other in others:
            ops = inside[other][: len(rows)]
            row_of_op[ops] = rows[: len(ops)]
    folded.row_of_op = row_of_op


def keep_rows(folded: Folded, kept: npt.NDArray[np.bool_]) -> None:
    """Remove rows, and frames that become empty.

    Parameters
    ----------
    folded
        The rows and frames, which are changed in place.
    kept
        Which rows to keep; bool, shape ``[rows]``.
    """
    rows_before = np.append(0, np.cumsum(kept)).tolist()
    new_row = np.append(np.where(kept, rows_before[:-1], -1), -1)
    folded.rows = [row for row, is_kept in zip(folded.rows, kept.tolist(), strict=True) if is_kept]
    folded.row_of_op = new_row[folded.row_of_op].astype(np.int32)
    folded.is_shown = folded.is_shown & (folded.row_of_op >= 0)
    for frame in folded.frames:
        frame.first, frame.last = rows_before[frame.first], rows_before[frame.last + 1] - 1
    folded.frames = [frame for frame in folded.frames if frame.first <= frame.last]
