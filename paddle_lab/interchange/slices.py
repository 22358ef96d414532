"""Ops and the calls that contain them, as nested slices of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.trees import depths, gathered, taken


@dataclass
class Slice:
    """A span of one thread's time: an op, or the call of a layer, region or backward."""

    thread: int
    start_ns: int
    end_ns: int
    op: int
    """The op; for a PyLayer's call, the PyLayer's op; -1 for other calls."""
    scope: int
    """The scope of the call; -1 for an op."""


def slices(record: Record) -> list[Slice]:
    """Return the slices of ops and calls, sorted by thread and start. They are nested.

    A record has only the times of ops, so a call lasts from the begin of its first op to the end of
    its last op. A PyLayer has a slice for its call, but none for its op.
    """
    ops, scopes = record.ops, record.scopes
    end_ns = ops["start_ns"] + np.maximum(ops["duration_ns"], 0)
    first, last = _extents(record, end_ns)
    # Put calls before ops, and outer calls before inner ones. The sort below keeps this order.
    calls = np.argsort(depths(scopes["parent"]), kind="stable")
    calls = calls[last[calls] >= 0]
    others = np.setdiff1d(np.arange(len(ops)), scopes["op"])
    thread = np.append(scopes["thread"][calls], ops["thread"][others])
    start = np.append(first[calls], ops["start_ns"][others])
    end = np.append(last[calls], end_ns[others])
    op = np.append(scopes["op"][calls], others)
    scope = np.append(calls, np.full(len(others), -1))
    order = np.lexsort((-end, start, thread))
    found: list[Slice] = []
    around: list[Slice] = []
    for cells in zip(
        *(column[order].tolist() for column in (thread, start, end, op, scope)), strict=True
    ):
        part = Slice(*cells)
        while around and (around[-1].thread != part.thread or around[-1].end_ns <= part.start_ns):
            around.pop()
        # Outer calls exclude the trace's own cost at their end, so an inner slice may end too late.
        if around:
            part.end_ns = min(part.end_ns, around[-1].end_ns)
        around.append(part)
        found.append(part)
    return found


def _extents(record: Record, end_ns: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return when the first op in each call began and the last op ended; -1 without ops."""
    ops, scopes = record.ops, record.scopes
    thread, parent = scopes["thread"], scopes["parent"]
    first = np.full(len(scopes), np.iinfo(np.int64).max)
    last = np.full(len(scopes), -1)
    inside = np.flatnonzero(taken(thread, ops["scope"]) == ops["thread"])
    called = np.flatnonzero(scopes["op"] >= 0)
    scope = np.append(ops["scope"][inside], called)
    op = np.append(inside, scopes["op"][called])
    np.minimum.at(first, scope, ops["start_ns"][op])
    np.maximum.at(last, scope, end_ns[op])
    # A call includes only inner calls that ran in the same thread.
    parent = np.where(taken(thread, parent) == thread, parent, -1)
    return gathered(parent, first, np.minimum), gathered(parent, last, np.maximum)
