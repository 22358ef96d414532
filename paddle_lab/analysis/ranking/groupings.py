"""Which row of a table each span belongs to: an op, a layer, a line or a loop iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.analysis.tables.columns import Values
from paddle_lab.analysis.time.spans import Spans
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import BACKWARD_KINDS, FRAME_KINDS
from paddle_lab.trace.trees import depths, levels, nearest_marked, taken

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Grouping:
    """The rows of a table, and the tree of units (calls, stacks, nested ops) with the spans."""

    names: dict[str, Values]
    """The columns that name a row."""
    unit: Numbers
    """The unit of each span, shape ``[spans]``."""
    parent: Numbers
    """The unit around each unit, -1 for none, shape ``[units]``."""
    row: Numbers
    """The row that a unit itself belongs to; -1 if only the units around it have rows."""
    own_row: Numbers
    """The row that the time of a unit itself counts for, shape ``[units]``."""
    calls: Numbers | None = None
    """How often each row was called. By default the spans of the row itself are counted."""

    @property
    def row_count(self) -> int:
        """The number of rows."""
        return len(next(iter(self.names.values())))

    def memberships(self) -> tuple[Numbers, Numbers]:
        """Return all pairs of a unit with spans and a row that contains the unit, each once."""
        used = np.unique(self.unit)
        at, pairs = used, [used * self.row_count + self.own_row[used]]
        while len(at):
            row = self.row[at]
            pairs.append((used * self.row_count + row)[row >= 0])
            above = self.parent[at]
            used, at = used[above >= 0], above[above >= 0]
        unit, row = np.divmod(np.unique(np.concatenate(pairs)), self.row_count)
        return unit, row


def _with_rest(own: npt.NDArray[Any], unit: Numbers, names: dict[str, Values]) -> npt.NDArray[Any]:
    """Put spans that have no row into an extra last row without a name."""
    if not np.any(own[unit] < 0):
        return own
    count = len(next(iter(names.values())))
    for values in names.values():
        assert isinstance(values, list)
        values.append(None)
    return np.where(own < 0, count, own)


def by_op(record: Record, spans: Spans) -> Grouping:
    """Group spans by the name of their op. A ``backward`` call counts as an op."""
    kinds = record.backward_calls["kind"]
    texts = [
        record.text(int(record.ops["name"][op])) if op >= 0 else BACKWARD_KINDS[kinds[call]]
        for op, call in zip(spans.op.tolist(), spans.backward_call.tolist(), strict=True)
    ]
    number = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    name = np.fromiter((number[text] for text in texts), np.int64, len(texts))
    # A unit is a name inside another unit. So spans with the same nesting share a unit.
    unit = np.zeros(len(spans), np.int64)
    parents: list[Numbers] = []
    rows: list[Numbers] = []
    first = 0
    for spans_at in levels(depths(spans.parent)):
        around = taken(unit, spans.parent[spans_at])
        pairs, which = np.unique(
            (around + 1) * (len(number) + 1) + name[spans_at], return_inverse=True
        )
        above, row = np.divmod(pairs, len(number) + 1)
        unit[spans_at] = first + which
        parents.append(above - 1)
        rows.append(row)
        first += len(pairs)
    row = np.concatenate([*rows, np.zeros(0, np.int64)])
    parent = np.concatenate([*parents, np.zeros(0, np.int64)])
    return Grouping({"op": list(number)}, unit, parent, row, row)


def by_layer(record: Record, spans: Spans) -> Grouping:
    """Group spans by the innermost layer. Spans outside of layers are the last row."""
    scopes = record.scopes
    is_call = scopes["layer"] >= 0
    called, first = np.unique(scopes["layer"][is_call], return_index=True)
    called = called[np.argsort(first)]
    number = np.full(len(record.layers) + 1, -1, np.int64)
    number[called] = np.arange(len(called))
    texts = record.strings
    names: dict[str, Values] = {
        "layer": [texts[code] for code in record.layer_names["name"][called].tolist()],
        "class": [texts[code] for code in record.layers["class"][called].tolist()],
    }
    calls = np.bincount(number[scopes["layer"][is_call]], minlength=len(called))
    unit, parent, row = _by_scope(record, spans, number[scopes["layer"]])
    own = taken(row, nearest_marked(parent, row >= 0))
    own = _with_rest(own, unit, names)
    rest = np.bincount(own[unit], minlength=len(called) + 1)[len(called) : len(names["layer"])]
    return Grouping(names, unit, parent, row, own, np.append(calls, rest))


def by_turn(record: Record, spans: Spans) -> Grouping:
    """Group spans by the innermost loop iteration. Spans outside of loops are the last row."""
    turns, loops, texts = record.turns, record.loops, record.strings
    loop = turns["loop"]
    number = np.full(len(record.scopes), -1, np.int64)
    number[turns["scope"]] = np.arange(len(turns))
    cell = taken(loops["cell"], loop).tolist()
    names: dict[str, Values] = {
        "loop": [texts[code] for code in taken(loops["words"], loop).tolist()],
        "number": turns["number"].tolist(),
        "value": [texts[code] for code in turns["value"].tolist()],
        "file": [texts[code] for code in taken(loops["file"], loop).tolist()],
        "line": taken(loops["line"], loop).tolist(),
        "cell": [each if each >= 0 else None for each in cell],
    }
    unit, parent, row = _by_scope(record, spans, number)
    own = _with_rest(taken(row, nearest_marked(parent, row >= 0)), unit, names)
    return Grouping(names, unit, parent, row, own)


def _by_scope(
    record: Record, spans: Spans, row: npt.NDArray[Any]
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the unit of each span, and the parent and the row of each unit.

    The last unit is for spans outside of scopes.
    """
    count = len(record.scopes)
    unit = np.where(spans.scope < 0, count, spans.scope).astype(np.int64)
    parent = np.append(record.scopes["parent"], -1).astype(np.int64)
    return unit, parent, np.append(row, -1)


def by_line(record: Record, spans: Spans) -> Grouping:
    """Group spans by the user's line that called them. Spans of unknown lines are the last row."""
    stacks, frames = record.stacks, record.frames
    places = np.stack([frames[name] for name in ("file", "cell", "line")], axis=1)
    _, first, place = np.unique(
        places.reshape(-1, 3), axis=0, return_index=True, return_inverse=True
    )
    place = place.ravel()
    is_user = frames["kind"] == FRAME_KINDS.index("user")
    line = np.where(is_user, place, -1)[stacks["frame"]] if len(frames) else np.zeros(0, np.int64)
    own = np.append(taken(place, record.stack_frames["frame"]), -1)
    count = len(stacks)
    unit = np.where(spans.stack < 0, count, spans.stack).astype(np.int64)
    parent = np.append(stacks["caller"], -1).astype(np.int64)
    row = np.append(line, -1)
    used = np.zeros(len(first) + 1, bool)
    at = np.unique(unit)
    used[own[at]] = True
    while len(at):
        used[row[at]] = True
        at = np.unique(parent[at][parent[at] >= 0])
    used[-1] = False
    number = np.append(np.where(used[:-1], np.cumsum(used[:-1]) - 1, -1), -1)
    told = [Frame(record, key) for key in first[used[:-1]].tolist()]
    names: dict[str, Values] = {
        "file": [frame.file for frame in told],
        "line": [frame.line for frame in told],
        "cell": [frame.cell for frame in told],
        "function": [frame.function for frame in told],
        "source": [frame.text for frame in told],
    }
    return Grouping(names, unit, parent, number[row], _with_rest(number[own], unit, names))
