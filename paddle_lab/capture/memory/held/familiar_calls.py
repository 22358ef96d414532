"""Backward calls that are like ones before: which of their events were which grad node's.

Recording grad nodes among the events is dear: the log is cut around the backward call, and
Paddle builds trees of all that ran in it. In a step of small ops that takes half as long as the
step. But a training does the same in every step. So two equal calls are recorded with their grad
nodes. A later call with an equal graph is recorded by the allocator's events alone. If its events
have the kinds and sizes of the earlier ones, it gets their grad nodes. If one differs, its grad
nodes stay unknown, and calls like it are recorded in full from then on. Every 32nd call is recorded
in full as a check.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from paddle_lab.capture.backward_graph.grad_nodes import GradNodePool
from paddle_lab.capture.memory.log.allocator_log import BackwardSpan
from paddle_lab.capture.memory.log.events import FREE, AllocatorEvents, GradNodeRuns, Int64s
from paddle_lab.capture.rows.cells import EDGE_CELLS, NODE_CELLS, ROOT_CELLS, TENSOR_CELLS
from paddle_lab.capture.rows.tape import Tape, cells_of

_CONFIRMED = 2
"""So many calls must have been alike."""
_CHECK_EVERY = 32
_MOST_KINDS = 256
"""Of calls that are remembered."""
_TENSOR_COLUMNS = [1, 2, 3, 4, 6]  # shape, dtype, place, stop_gradient, kind


class _Call(NamedTuple):
    """A backward call as it was recorded with its grad nodes."""

    events: bytes
    """Kinds and sizes, in turn."""
    names: list[str]
    """Of the grad nodes that ran."""
    first: Int64s
    """How many events were before each of them began, shape ``[runs]``."""
    last: Int64s
    """How many before it had ended."""

    def is_like(self, other: _Call) -> bool:
        """Tell whether the same grad nodes ran between the same events."""
        return (
            self.events == other.events
            and self.names == other.names
            and np.array_equal(self.first, other.first)
            and np.array_equal(self.last, other.last)
        )


class _Kind:
    """Backward calls of one signature."""

    def __init__(self) -> None:
        self.call: _Call | None = None
        self.confirmed = 0
        self.is_banned = False
        self.passed = 0
        """How many were recorded without their grad nodes."""


class FamiliarCalls:
    """The backward calls of one trace.

    Parameters
    ----------
    tensors
        The rows of the tensors that the trace has met.
    graph
        The grad nodes of the calls.
    """

    def __init__(self, tensors: Tape, graph: GradNodePool) -> None:
        self._tapes = tensors, graph.rows, graph.edges, graph.roots
        self._kinds: dict[bytes, _Kind] = {}
        self._positions = self._ends()

    def signature(self, modes: tuple[int, ...]) -> bytes:
        """Return what calls have in common that will be alike; empty where that is not known.

        To be asked when the graph of a call that begins has been walked, once.

        Parameters
        ----------
        modes
            How the call runs.
        """
        tapes, before = self._tapes, self._positions
        self._positions = self._ends()
        if any(tape.start > start for tape, start in zip(tapes, before, strict=True)):
            return b""
        tensors, nodes, edges, roots = (
            cells_of(tape, start).reshape(-1, width)
            for tape, start, width in zip(
                tapes, before, (TENSOR_CELLS, NODE_CELLS, EDGE_CELLS, ROOT_CELLS), strict=True
            )
        )
        if not len(nodes):
            return b""  # a graph of an earlier call, and it is not known which
        start = int(nodes[0, 0])
        told = blake2b(repr((modes, len(tensors), len(nodes), len(edges))).encode())
        told.update(tensors[:, _TENSOR_COLUMNS].tobytes())
        told.update(np.ascontiguousarray(nodes[:, 1]).tobytes())
        for keys in (edges[:, 1:3], roots[:, 1]):
            # Those of earlier walks, leaves as a rule, are the very same.
            told.update(np.where(keys < start, -1 - keys, keys - start).tobytes())
        told.update(np.ascontiguousarray(edges[:, 3]).tobytes())
        return told.digest()

    def is_familiar(self, signature: bytes) -> bool:
        """Tell whether a call need not be recorded with its grad nodes."""
        kind = self._kinds.get(signature)
        if kind is None or kind.is_banned or kind.confirmed < _CONFIRMED:
            return False
        kind.passed += 1
        return kind.passed % _CHECK_EVERY != 0

    def complete(
        self, events: AllocatorEvents, runs: GradNodeRuns, spans: Iterable[BackwardSpan]
    ) -> GradNodeRuns:
        """Learn from calls that were recorded with their grad nodes, and complete the others.

        Parameters
        ----------
        events, runs
            What was recorded.
        spans
            The backward calls that ended meanwhile.

        Returns
        -------
        GradNodeRuns
            The grad nodes that ran, those included that were not recorded.
        """
        parts = [runs]
        for span in spans:
            if not span.signature:
                continue
            kind = self._kinds.get(span.signature)
            if kind is None:
                if len(self._kinds) >= _MOST_KINDS:
                    continue
                kind = self._kinds[span.signature] = _Kind()
            its_events = _inside(events.time_ns, events.thread, span)
            # When a device reserves memory is another matter.
            its_events = its_events[events.kind[its_events] <= FREE]
            times_ns = events.time_ns[its_events]
            told = np.stack((events.kind[its_events], events.bytes[its_events])).tobytes()
            if span.has_runs:
                its_runs = runs.chosen(_inside(runs.start_ns, runs.thread, span))
                _learn(kind, span, _call(told, times_ns, its_runs))
            elif kind.call is not None and kind.call.events == told and not span.has_inner:
                parts.append(_replayed(kind.call, times_ns, span))
            else:
                kind.is_banned = True
        if len(parts) == 1:
            return runs
        joined = GradNodeRuns.in_turn(parts)
        return joined.chosen(np.argsort(joined.start_ns, kind="stable"))

    def _ends(self) -> tuple[int, ...]:
        return tuple(map(len, self._tapes))


def _learn(kind: _Kind, span: BackwardSpan, call: _Call) -> None:
    if span.has_inner or (kind.call is not None and not kind.call.is_like(call)):
        kind.is_banned = True
    kind.call = call
    kind.confirmed += 1


def _inside(time_ns: Int64s, thread: Int64s, span: BackwardSpan) -> Int64s:
    """Return the positions of what was in a call's thread while it ran; times ascend."""
    first, last = np.searchsorted(time_ns, (span.start_ns, span.end_ns))
    found: Int64s = first + np.flatnonzero(thread[first:last] == span.thread)
    return found


def _call(told: bytes, times_ns: Int64s, runs: GradNodeRuns) -> _Call:
    first = np.searchsorted(times_ns, runs.start_ns, side="left")
    last = np.searchsorted(times_ns, runs.end_ns, side="right")
    return _Call(told, runs.names, first, last)


def _replayed(call: _Call, times_ns: Int64s, span: BackwardSpan) -> GradNodeRuns:
    """Return the grad nodes of a call between whose events those of another ran."""
    # Halfway between two events, or an event and the call's own border.
    borders = np.concatenate(([span.start_ns], times_ns, [span.end_ns]))
    halfway = borders[:-1] + (borders[1:] - borders[:-1]) // 2
    thread = np.full(len(call.names), span.thread, np.int64)
    return GradNodeRuns(list(call.names), halfway[call.first], halfway[call.last], thread)
