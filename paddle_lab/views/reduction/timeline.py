"""The memory timeline of very many blocks: the largest as they are, the others summed up.

The sums are blocks like any other, one for each kind and stretch of time. In the moment of the peak
they add up to what was allocated; elsewhere they are what was alive in the highest moment of their
stretch, or less where the whole would seem higher than the peak.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ALLOCATION_KINDS, SCOPE_KINDS
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.words import say

_SUM = SCOPE_KINDS.index("sum")


def summed_up(record: Record, *, largest: int, stretches: int) -> Record:
    """Return the record with ``largest`` blocks and sums of the rest.

    Parameters
    ----------
    record
        A record with answer tables.
    largest
        How many blocks stay as they are: those of most bytes times duration, and those that someone
        held at the end.
    stretches
        How many stretches of time the trace is cut into.
    """
    blocks = record.allocations
    if len(blocks) <= largest + stretches * len(ALLOCATION_KINDS):
        return record
    end_of_trace = _end_ns(record)
    start = np.maximum(blocks["start_ns"], 0)
    end = np.where(blocks["end_ns"] < 0, end_of_trace, blocks["end_ns"])
    weight = blocks["bytes"].astype(np.float64) * np.maximum(end - start, 1)
    held = record.holders["allocation"]
    weight[held[held >= 0]] = np.inf
    stays = np.zeros(len(blocks), np.bool_)
    stays[np.argpartition(-weight, largest)[:largest]] = True
    rest = np.flatnonzero(~stays)
    sums = _sums(blocks, rest, start, end, end_of_trace, stretches)
    strings = StringPool(record.strings)
    scopes = record.scopes
    scope = len(scopes)
    row: dict[str, Any] = dict.fromkeys(scopes.columns, -1)
    row |= {"kind": _SUM, "name": strings[say("reports.reduced.blocks_here")], "thread": 0}
    columns = {}
    count = len(sums["bytes"])
    for name, column in blocks.columns.items():
        made = sums.get(name, np.full(count, {"scope": scope, "thread": 0}.get(name, -1)))
        columns[name] = np.concatenate((column[stays], made)).astype(column.dtype)
    columns["phase"][len(columns["phase"]) - count :] = 0
    order = np.argsort(columns["start_ns"], kind="stable")
    key = np.full(len(blocks) + 1, -1, np.int32)
    key[np.flatnonzero(stays)] = np.argsort(order)[: len(order) - count]
    tables = {
        **record.tables,
        "allocations": Table({name: column[order] for name, column in columns.items()}),
        "holders": Table({**record.holders.columns, "allocation": key[held]}),
        "scopes": Table(
            {name: np.append(column, row[name]).astype(column.dtype)
             for name, column in scopes.columns.items()}
        ),
    }  # fmt: skip
    return Record(tables, strings.to_list(), record.origin)


def _end_ns(record: Record) -> int:
    blocks = record.allocations
    latest = [int(column.max(initial=0)) for column in (blocks["start_ns"], blocks["end_ns"])]
    return max(*latest, record.origin.duration_ns) + 1


def _sums(
    blocks: Table,
    rest: npt.NDArray[np.int64],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    end_of_trace: int,
    stretches: int,
) -> dict[str, npt.NDArray[Any]]:
    """Return columns of the blocks that stand for ``rest``."""
    found: dict[str, list[npt.NDArray[Any]]] = {
        name: [] for name in ("bytes", "place", "kind", "start_ns", "end_ns")
    }
    size, is_rest = blocks["bytes"], np.zeros(len(blocks), np.bool_)
    is_rest[rest] = True
    for place in np.unique(blocks["place"][rest]).tolist():
        here = blocks["place"] == place
        borders, peak = _borders(size, here, start, end, end_of_trace, stretches)
        own, large = np.flatnonzero(here & is_rest), np.flatnonzero(here & ~is_rest)
        moment, most = _highest(size[own], start[own], end[own], borders)
        # With the largest blocks of another moment in the stretch it must not seem to be the peak.
        room = peak - _highest(size[large], start[large], end[large], borders)[1]
        share = np.minimum(1, np.maximum(0, room) / np.maximum(most, 1))
        for kind in np.unique(blocks["kind"][own]).tolist():
            alike = own[blocks["kind"][own] == kind]
            alive = _alive(size[alike], start[alike], end[alike], moment)
            alive = np.floor(alive * share).astype(np.int64)
            used = np.flatnonzero(alive)
            found["bytes"].append(alive[used])
            found["place"].append(np.full(len(used), place))
            found["kind"].append(np.full(len(used), kind))
            found["start_ns"].append(borders[:-1][used])
            found["end_ns"].append(borders[1:][used])
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _borders(
    size: npt.NDArray[Any],
    here: npt.NDArray[np.bool_],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    end_of_trace: int,
    stretches: int,
) -> tuple[npt.NDArray[np.int64], int]:
    """Return where stretches begin and end, and the peak's bytes.

    There are as many events in each stretch; the peak has its own.
    """
    times, changes = _events(size[here], start[here], end[here])
    total = np.cumsum(changes)
    at = int(np.argmax(total))
    peak = times[at : at + 2]
    marks = np.linspace(0, len(times) - 1, stretches - 2).astype(np.int64)
    borders = np.concatenate((np.array([0, end_of_trace]), times[marks], peak))
    return np.unique(borders).astype(np.int64), int(total[at])


def _events(
    size: npt.NDArray[Any], start: npt.NDArray[np.int64], end: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return times and changes in bytes; at equal times what ends comes first."""
    size = size.astype(np.int64)
    times, changes = np.concatenate((end, start)), np.concatenate((-size, size))
    order = np.argsort(times, kind="stable")
    return times[order], changes[order]


def _alive(
    size: npt.NDArray[Any],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    moments: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Return the bytes that are alive in each moment, int64, shape ``[moments]``."""
    times, changes = _events(size, start, end)
    total = np.append(np.cumsum(changes), 0)
    return np.asarray(total[np.searchsorted(times, moments, side="right") - 1], np.int64)


def _highest(
    size: npt.NDArray[Any],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    borders: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the moment of each stretch in which most bytes are alive, and how many."""
    inside = (start >= borders[0]) & (start < borders[-1])
    moments = np.concatenate((borders[:-1], start[inside]))
    alive = _alive(size, start, end, moments)
    stretch = np.searchsorted(borders, moments, side="right") - 1
    order = np.lexsort((-alive, stretch))
    first = order[np.unique(stretch[order], return_index=True)[1]]
    return moments[first], alive[first]
