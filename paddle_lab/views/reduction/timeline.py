"""The memory timeline of many blocks: the largest blocks as they are, and sums of the others.

A sum is a block like any other. There is one for each kind and each stretch of time. At the peak,
sums and large blocks add up to the allocated bytes. In any other stretch, a sum has the bytes at
its highest moment, or fewer bytes if the total would exceed the peak.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.memory.timeline import timeline
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ALLOCATION_KINDS, SCOPE_KINDS
from paddle_lab.trace.table import StringPool
from paddle_lab.views.reduction.rows import changed, keep_rows, taken
from paddle_lab.words import say

Numbers = npt.NDArray[np.int64]

_SUM: Final = SCOPE_KINDS.index("sum")
_LEAST_STRETCHES: Final = 60
_BLOCKS_A_STRETCH: Final = 10


def with_small_blocks_summed_up(record: Record, *, most_blocks: int) -> Record:
    """Return the record with the ``most_blocks`` largest blocks, and sums of the others.

    The size of a block is here its bytes times its duration. Blocks that were alive at the end also
    stay.
    """
    blocks = record.allocations
    stretches = max(_LEAST_STRETCHES, most_blocks // _BLOCKS_A_STRETCH)
    if len(blocks) <= most_blocks + stretches * len(ALLOCATION_KINDS):
        return record
    latest = (int(blocks[name].max()) for name in ("start_ns", "end_ns"))
    last_ns = max(*latest, record.origin.duration_ns) + 1
    end = np.where(blocks["end_ns"] < 0, last_ns, blocks["end_ns"])
    lasts = np.maximum(end - np.maximum(blocks["start_ns"], 0), 1)
    weight = blocks["bytes"].astype(np.float64) * lasts
    held = record.holders["allocation"]
    weight[held[held >= 0]] = np.inf
    stays = np.zeros(len(blocks), np.bool_)
    stays[np.argpartition(-weight, most_blocks)[:most_blocks]] = True
    columns: list[Numbers] = []
    for place in np.unique(blocks["place"][~stays]).tolist():
        here = np.flatnonzero(blocks["place"] == place)
        sums = _sums(record, here, stays[here], _borders(record, here, last_ns, stretches))
        columns.append(np.insert(sums, 0, place, axis=1))
    place, start, end, size, kind = np.concatenate(columns).T
    strings, scope = StringPool(record.strings), len(record.scopes)
    name = strings[say("reports.reduced.blocks_here")]
    tables = dict(record.tables)
    tables["scopes"] = record.scopes.appended(kind=[_SUM], name=[name], thread=[0])
    keep_rows(tables, "allocations", stays)
    made = {"place": place, "start_ns": start, "end_ns": end, "bytes": size, "kind": kind}
    made |= {"thread": 0 * size, "phase": 0 * size, "scope": 0 * size + scope}
    tables["allocations"] = tables["allocations"].appended(**made)
    # Sort by start, as in every record.
    order = np.argsort(tables["allocations"]["start_ns"], kind="stable")
    new_keys = np.append(np.argsort(order), -1)
    tables["allocations"] = taken(tables["allocations"], order)
    held = tables["holders"]["allocation"]
    tables["holders"] = changed(tables["holders"], allocation=new_keys[held])
    return Record(tables, strings.to_list(), record.origin)


def _sums(
    record: Record, keys: npt.NDArray[Any], stays: npt.NDArray[np.bool_], borders: Numbers
) -> Numbers:
    """Return the start, end, bytes and kind of the sums that replace small blocks.

    Parameters
    ----------
    keys, stays
        The blocks of one place, and which of them stay.
    borders
        The borders of the stretches of time.
    """
    small = keys[~stays]
    moments, most = _highest(record, small, borders)
    # A sum plus the highest value of the large blocks in the stretch must not exceed the peak.
    room = timeline(record, keys).peak_bytes - _highest(record, keys[stays], borders)[1]
    share = np.minimum(1, np.maximum(0, room) / np.maximum(most, 1))
    kinds, found = record.allocations["kind"][small], []
    for kind in np.unique(kinds).tolist():
        alive = timeline(record, small[kinds == kind]).at_each(moments)
        size = np.floor(alive * share).astype(np.int64)
        rows = np.stack((borders[:-1], borders[1:], size, np.full_like(size, kind)), axis=1)
        found.append(rows[size > 0])
    return np.concatenate(found)


def _highest(record: Record, keys: npt.NDArray[Any], borders: Numbers) -> tuple[Numbers, Numbers]:
    """Return the moment with the most allocated bytes in each stretch, and these bytes."""
    start = record.allocations["start_ns"][keys]
    moments = np.append(borders[:-1], start[start >= 0])
    alive = timeline(record, keys).at_each(moments)
    stretch = np.searchsorted(borders, moments, side="right") - 1
    order = np.lexsort((-alive, stretch))
    first = order[np.unique(stretch[order], return_index=True)[1]]
    return moments[first], alive[first]


def _borders(record: Record, keys: npt.NDArray[Any], last_ns: int, stretches: int) -> Numbers:
    """Return the borders of the stretches of time.

    All stretches have the same number of events, but the peak is a stretch of its own.
    """
    whole = timeline(record, keys)
    times = np.concatenate(([0], whole.time_ns, [last_ns]))
    at = int(np.argmax(np.append(whole.start_bytes, whole.allocated_bytes)))
    marks = np.linspace(0, len(times) - 1, stretches - 2).astype(np.int64)
    borders: Numbers = np.unique([last_ns + 1, *times[marks], *times[at : at + 2]])
    return borders
