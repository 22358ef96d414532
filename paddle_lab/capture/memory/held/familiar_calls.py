"""Backward calls that repeat earlier ones: finds which grad node each allocator event belongs to.

Recording grad nodes among the events is expensive: in a training step of small ops it takes half as
long as the step. But training repeats the same calls in every step. So two equal calls are recorded
with their grad nodes, and their events are read at the next op. Later calls with an equal graph are
recorded by their allocator events alone. If these have the kinds and sizes of the earlier events,
the call gets the earlier call's grad nodes. Otherwise its grad nodes stay unknown, and calls with
this graph are recorded in full from then on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from paddle_lab.capture.backward_graph.grad_nodes import GradNodePool
from paddle_lab.capture.memory.log.events import FREE, AllocatorEvents, GradNodeRuns, Int64s
from paddle_lab.capture.memory.log.segments import BackwardSpan
from paddle_lab.capture.recorder.tensors import ACTIVATION
from paddle_lab.capture.rows import cells
from paddle_lab.capture.rows.tape import Tape, cells_of

_MOST_KINDS = 256
"""The most kinds of calls that are remembered."""
_TENSOR_COLUMNS = slice(1, 5)  # shape, dtype, place, stop_gradient


@dataclass
class _Kind:
    """Backward calls with one signature."""

    events: bytes
    """Kinds and sizes of the latest call's events."""
    runs: GradNodeRuns
    """The latest call's grad nodes. Each start and end is the number of events before it."""
    is_confirmed: bool = False
    """Whether a second call was equal."""
    is_banned: bool = False
    """Whether a later call with this signature was different."""


class FamiliarCalls:
    """The backward calls of one trace.

    Parameters
    ----------
    tensors
        The rows of the tensors that the trace has seen.
    graph
        The grad nodes of the calls.
    """

    def __init__(self, tensors: Tape, graph: GradNodePool) -> None:
        self._tapes = (tensors, graph.rows, graph.edges, graph.roots)
        self._ends = list(map(len, self._tapes))
        self._kinds: dict[bytes, _Kind] = {}
        self._unread: set[bytes] = set()
        """Signatures of calls whose events have not been read."""

    def signature(self, modes: tuple[int, ...]) -> bytes:
        """Return a hash that is equal for calls with equal graphs; empty if it cannot be computed.

        Call this once, after the graph of a beginning call has been walked.

        Parameters
        ----------
        modes
            The call's kind, ``create_graph`` and ``retain_graph``.
        """
        starts, self._ends = self._ends, list(map(len, self._tapes))
        if any(tape.start > start for tape, start in zip(self._tapes, starts, strict=True)):
            return b""
        widths = (cells.TENSOR_CELLS, cells.NODE_CELLS, cells.EDGE_CELLS, cells.ROOT_CELLS)
        tensors, nodes, edges, roots = (
            cells_of(tape, start).reshape(-1, width)
            for tape, start, width in zip(self._tapes, starts, widths, strict=True)
        )
        if not len(nodes):
            return b""  # the graph was walked for an earlier call, but we do not know which
        # The first steps also bring parameters and states that no op made, which later steps know.
        made = tensors[tensors[:, cells.TensorCell.KIND] == ACTIVATION]
        first = int(nodes[0, 0])
        # Nodes of earlier walks, usually leaves, are identified by their keys.
        keys = np.concatenate((edges[:, 1], edges[:, 2], roots[:, 1]))
        keys = np.where(keys < first, -1 - keys, keys - first)
        counts = repr((modes, len(made), len(nodes), len(edges))).encode()
        columns = made[:, _TENSOR_COLUMNS], nodes[:, 1], keys, edges[:, 3]
        return blake2b(b"".join((counts, *(column.tobytes() for column in columns)))).digest()

    def is_familiar(self, signature: bytes) -> bool:
        """Return whether a call can be recorded without recording its grad nodes."""
        kind = self._kinds.get(signature)
        return kind is not None and kind.is_confirmed and not kind.is_banned

    def is_second(self, signature: bytes) -> bool:
        """Note that a call begins. Return whether it will be familiar when its events are read."""
        kind = self._kinds.get(signature)
        is_new = len(self._kinds) < _MOST_KINDS if kind is None else not kind.is_confirmed
        is_second = is_new and (kind is not None or signature in self._unread)
        self._unread.add(signature)
        return is_second

    def complete(
        self, events: AllocatorEvents, runs: GradNodeRuns, spans: Iterable[BackwardSpan]
    ) -> GradNodeRuns:
        """Learn from calls that were recorded with their grad nodes, and complete the other calls.

        Parameters
        ----------
        events, runs
            The events and grad nodes that were recorded.
        spans
            The backward calls that ended since the last time.

        Returns
        -------
        GradNodeRuns
            The grad nodes that ran, including those that were not recorded.
        """
        parts = [runs]
        self._unread.clear()
        for span in spans:
            if not span.signature:
                continue
            own = _inside(events.time_ns, events.thread, span)
            # Leave out reserving events: a device may reserve memory at any point of a call.
            own = own[events.kind[own] <= FREE]
            times_ns = events.time_ns[own]
            found = np.stack((events.kind[own], events.bytes[own])).tobytes()
            kind = self._kinds.get(span.signature)
            if kind is not None and not span.has_runs:
                if kind.events == found and not span.has_inner:
                    parts.append(_replayed(kind.runs, times_ns, span))
                else:
                    kind.is_banned = True
                continue
            own_runs = _between_events(
                runs.chosen(_inside(runs.start_ns, runs.thread, span)), times_ns
            )
            if kind is None:
                if len(self._kinds) < _MOST_KINDS:
                    self._kinds[span.signature] = _Kind(found, own_runs, is_banned=span.has_inner)
                continue
            columns = zip(vars(kind.runs).values(), vars(own_runs).values(), strict=True)
            is_equal = kind.events == found and not span.has_inner
            is_equal &= all(np.array_equal(one, other) for one, other in columns)
            kind.is_confirmed = True
            kind.is_banned |= not is_equal
        if len(parts) == 1:
            return runs
        joined = GradNodeRuns.joined(parts)
        return joined.chosen(np.argsort(joined.start_ns, kind="stable"))


def _inside(time_ns: Int64s, thread: Int64s, span: BackwardSpan) -> Int64s:
    """Return the positions of the times inside a call, in the call's thread. Times must ascend."""
    first, last = np.searchsorted(time_ns, (span.start_ns, span.end_ns))
    found: Int64s = first + np.flatnonzero(thread[first:last] == span.thread)
    return found


def _between_events(runs: GradNodeRuns, times_ns: Int64s) -> GradNodeRuns:
    first = np.searchsorted(times_ns, runs.start_ns, side="left")
    last = np.searchsorted(times_ns, runs.end_ns, side="right")
    return GradNodeRuns(runs.names, first, last, np.zeros_like(first))


def _replayed(runs: GradNodeRuns, times_ns: Int64s, span: BackwardSpan) -> GradNodeRuns:
    """Return an earlier call's grad nodes, placed between the corresponding events of this call."""
    # These times are halfway between two events, or between an event and the call's start or end.
    borders = np.concatenate(([span.start_ns], times_ns, [span.end_ns]))
    halfway = borders[:-1] + (borders[1:] - borders[:-1]) // 2
    threads = np.full(len(runs), span.thread)
    return GradNodeRuns(runs.names, halfway[runs.start_ns], halfway[runs.end_ns], threads)
