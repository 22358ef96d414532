"""The lines of the user's code, with the ops that they called, as rows of a table."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import FRAME_KINDS
from paddle_lab.trace.trees import Keys, nearest_marked
from paddle_lab.words import say

_PLACE = ("file", "cell", "line", "function")
_MOST_LINES, _MOST_CALLERS, _MOST_NAMES = 60, 3, 8
_COLUMNS = ("line", "source", "called_from", "first_op", "ops")


def line_rows(record: Record) -> list[tuple[str, ...]]:
    """Return the place of each stack of the user's frames, and the ops that it called.

    At most 60 lines, the first ones. A heading comes first. Without ops there are no rows.
    """
    if not len(record.ops):
        return []
    stacks, first_op, stack_of_op = np.unique(
        record.ops["stack"], return_index=True, return_inverse=True
    )
    frames = _own_frames(record, stacks)
    # Frames have the same place if their file, cell, line and function are equal.
    place = _equal_rows(np.stack([record.frames[column] for column in _PLACE], axis=1))
    line = _equal_rows(np.append(place, -1)[frames])
    # Sort the lines by their first ops.
    line_of_op = line[stack_of_op]
    first = np.full(line.max() + 1, len(record.ops))
    np.minimum.at(first, line, first_op)
    rows: list[tuple[str, ...]] = [tuple(say(f"reports.column.{name}") for name in _COLUMNS)]
    for told in np.argsort(first)[:_MOST_LINES].tolist():
        op = int(first[told])
        keys = [frame for frame in frames[stack_of_op[op]].tolist() if frame >= 0]
        ops = np.flatnonzero(line_of_op == told)
        rows.append((*_line([Frame(record, key) for key in keys]), str(op), _names(record, ops)))
    if len(first) > _MOST_LINES:
        rows.append((say("reports.more_lines", n=len(first) - _MOST_LINES), "", "", "", ""))
    return rows


def _own_frames(record: Record, stacks: npt.NDArray[Any]) -> Keys:
    """Return the user's frames of each stack: as many as are shown, and one more.

    The shape is ``[stacks, 5]``; the innermost frame comes first, and -1 follows the last one. For
    a stack without user code, only its innermost frame is returned.
    """
    frame = np.append(record.stacks["frame"], -1)
    caller = record.stacks["caller"]
    is_user = np.append(record.frames["kind"] == FRAME_KINDS.index("user"), False)
    to_own = np.append(nearest_marked(caller, is_user[frame[:-1]]), -1)
    to_any = np.append(nearest_marked(caller, frame[:-1] >= 0), -1)
    caller = np.append(caller, -1)
    at = to_own[stacks]
    innermost = frame[np.where(at >= 0, at, to_any[stacks])]
    columns = [innermost]
    for _ in range(_MOST_CALLERS + 1):
        at = to_own[caller[at]]
        columns.append(frame[at])
    return np.stack(columns, axis=1)


def _equal_rows(table: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return a number for each row of ``table``. Equal rows have equal numbers."""
    number: npt.NDArray[np.intp] = np.unique(table, axis=0, return_inverse=True)[1].ravel()
    return number


def _names(record: Record, ops: npt.NDArray[Any]) -> str:
    called = Counter(record.ops["name"][ops].tolist())
    most = [(record.text(name), count) for name, count in called.most_common(_MOST_NAMES)]
    names = ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in most)
    rest = len(called) - _MOST_NAMES
    return say("reports.more_names", names=names, n=rest) if rest > 0 else names


def _line(own: list[Frame]) -> tuple[str, ...]:
    if not own:
        return (say("reports.unknown"), "", "")
    callers = [_place(frame) for frame in own[1 : 1 + _MOST_CALLERS]]
    if len(own) > 1 + _MOST_CALLERS:
        callers.append("…")
    return (_place(own[0]), own[0].text[:100], " ← ".join(callers))


def _place(frame: Frame) -> str:
    if frame.function == "<module>":
        return frame.where
    return say("reports.in_function", line=frame.where, function=frame.function)
