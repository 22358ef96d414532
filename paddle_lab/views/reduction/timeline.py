"""The memory timeline of very many blocks: the largest as they are, the others summed up.

The sums are blocks like any other, one for each kind and stretch of time. At the peak, sums and
large blocks add up to the allocated bytes. Elsewhere a sum has the bytes alive at the highest
moment of its stretch, or fewer if sums and large blocks would otherwise exceed the peak.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ALLOCATION_KINDS, SCOPE_KINDS
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.views.reduction.rows import changed, keep_rows, taken
from paddle_lab.words import say

Numbers = npt.NDArray[np.int64]

_SUM: Final = SCOPE_KINDS.index("sum")
_LEAST_STRETCHES: Final = 60
_BLOCKS_A_STRETCH: Final = 10


class _Blocks(NamedTuple):
    """Blocks of one place: their sizes in bytes, and when they were allocated and freed."""

    size: Numbers
    start: Numbers
    end: Numbers

    def of(self, rows: npt.NDArray[np.bool_]) -> _Blocks:
        return _Blocks(self.size[rows], self.start[rows], self.end[rows])

    def curve(self) -> tuple[Numbers, Numbers]:
        """Return the times of changes, and the bytes allocated from each of these times on."""
        times, changes = np.append(self.end, self.start), np.append(-self.size, self.size)
        # At equal times, ends come first.
        order = np.argsort(times, kind="stable")
        return times[order], np.cumsum(changes[order])

    def alive(self, moments: Numbers) -> Numbers:
        """Return the bytes allocated in each moment."""
        times, total = self.curve()
        alive: Numbers = np.append(total, 0)[np.searchsorted(times, moments, side="right") - 1]
        return alive

    def highest(self, borders: Numbers) -> tuple[Numbers, Numbers]:
        """Return the moment with the most allocated bytes in each stretch, and these bytes."""
        inside = (self.start >= borders[0]) & (self.start < borders[-1])
        moments = np.append(borders[:-1], self.start[inside])
        alive = self.alive(moments)
        stretch = np.searchsorted(borders, moments, side="right") - 1
        order = np.lexsort((-alive, stretch))
        first = order[np.unique(stretch[order], return_index=True)[1]]
        return moments[first], alive[first]


def with_small_blocks_summed_up(record: Record, *, most_blocks: int) -> Record:
    """Return the record with the ``most_blocks`` largest blocks, and sums of the others.

    The largest have the most bytes times duration. Blocks that were held at the end stay as well.
    """
    blocks = record.allocations
    stretches = max(_LEAST_STRETCHES, most_blocks // _BLOCKS_A_STRETCH)
    if len(blocks) <= most_blocks + stretches * len(ALLOCATION_KINDS):
        return record
    latest = (int(blocks[name].max()) for name in ("start_ns", "end_ns"))
    last_ns = max(*latest, record.origin.duration_ns) + 1
    lives = _Blocks(
        blocks["bytes"].astype(np.int64),
        np.maximum(blocks["start_ns"], 0),
        np.where(blocks["end_ns"] < 0, last_ns, blocks["end_ns"]),
    )
    weight = lives.size.astype(np.float64) * np.maximum(lives.end - lives.start, 1)
    held = record.holders["allocation"]
    weight[held[held >= 0]] = np.inf
    stays = np.zeros(len(blocks), np.bool_)
    stays[np.argpartition(-weight, most_blocks)[:most_blocks]] = True
    columns: list[Numbers] = []
    for place in np.unique(blocks["place"][~stays]).tolist():
        here = blocks["place"] == place
        sums = _sums(lives.of(here), blocks["kind"][here], stays[here], stretches)
        columns.append(np.insert(sums, 0, place, axis=1))
    place, start, end, size, kind = np.concatenate(columns).T
    strings, scope = StringPool(record.strings), len(record.scopes)
    row = {"kind": _SUM, "name": strings[say("reports.reduced.blocks_here")], "thread": 0}
    tables = dict(record.tables)
    tables["scopes"] = _appended(record.scopes, {name: np.array([row[name]]) for name in row})
    keep_rows(tables, "allocations", stays)
    made = {"place": place, "start_ns": start, "end_ns": end, "bytes": size, "kind": kind}
    made |= {"thread": 0 * size, "phase": 0 * size, "scope": 0 * size + scope}
    tables["allocations"] = _appended(tables["allocations"], made)
    # By start, as in every record.
    order = np.argsort(tables["allocations"]["start_ns"], kind="stable")
    new_keys = np.append(np.argsort(order), -1)
    tables["allocations"] = taken(tables["allocations"], order)
    held = tables["holders"]["allocation"]
    tables["holders"] = changed(tables["holders"], allocation=new_keys[held])
    return Record(tables, strings.to_list(), record.origin)


def _sums(
    lives: _Blocks, kind: npt.NDArray[np.uint8], stays: npt.NDArray[np.bool_], stretches: int
) -> Numbers:
    """Return start, end, bytes and kind of the sums that replace the other blocks.

    Parameters
    ----------
    lives, kind, stays
        The blocks of one place, and which of them stay.
    stretches
        How many stretches of time the trace is cut into.
    """
    borders, peak_bytes = _borders(lives, stretches)
    small = lives.of(~stays)
    moment, most = small.highest(borders)
    # The sum plus the large blocks of another moment of the stretch must not exceed the peak.
    room = peak_bytes - lives.of(stays).highest(borders)[1]
    share = np.minimum(1, np.maximum(0, room) / np.maximum(most, 1))
    found = []
    for one in np.unique(kind[~stays]).tolist():
        alive = small.of(kind[~stays] == one).alive(moment)
        size = np.floor(alive * share).astype(np.int64)
        rows = np.stack((borders[:-1], borders[1:], size, np.full_like(size, one)), axis=1)
        found.append(rows[size > 0])
    return np.concatenate(found)


def _borders(lives: _Blocks, stretches: int) -> tuple[Numbers, int]:
    """Return the borders of the stretches, and the peak's bytes.

    Each stretch has the same number of events; the peak has a stretch of its own.
    """
    times, total = lives.curve()
    at = int(np.argmax(total))
    marks = np.linspace(0, len(times) - 1, stretches - 2).astype(np.int64)
    ends = np.array([0, times[-1] + 1])
    borders = np.concatenate((ends, times[marks], times[at : at + 2]))
    return np.unique(borders), int(total[at])


def _appended(table: Table, columns: dict[str, npt.NDArray[Any]]) -> Table:
    """Return the table with more rows; their other columns are -1."""
    count = len(next(iter(columns.values())))
    nothing = np.full(count, -1)
    return Table(
        {
            name: np.append(column, columns.get(name, nothing)).astype(column.dtype)
            for name, column in table.columns.items()
        }
    )
