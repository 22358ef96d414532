"""Backward calls that repeat earlier ones: which allocator events belong to which grad node.

Recording grad nodes among the events is expensive: the log is cut around the backward call, and
Paddle builds trees of everything that ran in it. In a step of small ops that takes half as long as
the step. But training repeats the same calls in every step. So two equal calls are recorded with
their grad nodes. A later call with an equal graph is recorded by the allocator's events alone. If
its events have the kinds and sizes of the earlier ones, it gets their grad nodes. If one differs,
its grad nodes stay unknown, and calls like it are recorded in full from then on. Every 32nd call is
recorded in full as a check.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from paddle_lab.capture.backward_graph.grad_nodes import GradNodePool
from paddle_lab.capture.memory.log.events import FREE, AllocatorEvents, GradNodeRuns, Int64s
from paddle_lab.capture.memory.log.segments import BackwardSpan
from paddle_lab.capture.rows.cells import EDGE_CELLS, NODE_CELLS, ROOT_CELLS, TENSOR_CELLS
from paddle_lab.capture.rows.tape import Tape, cells_of

_CONFIRMED = 2
"""So many calls must have been alike."""
_CHECK_EVERY = 32
_MOST_KINDS = 256
"""Of calls that are remembered."""
_TENSOR_COLUMNS = [1, 2, 3, 4, 6]  # shape, dtype, place, stop_gradient, kind


@dataclass
class _Kind:
    """Backward calls of one signature, and the latest that was recorded with its grad nodes."""

    events: bytes = b""
    """Kinds and sizes, in turn."""
    runs: GradNodeRuns | None = None
    """The grad nodes that ran; as times, how many events were before each began, and ended."""
    confirmed: int = 0
    is_banned: bool = False
    passed: int = 0
    """How many were recorded without their grad nodes."""

    def learn(self, events: bytes, runs: GradNodeRuns) -> None:
        """Store a fully recorded call. If it differs from the one before, ban this kind of call."""
        if self.runs is not None:
            columns = zip(vars(self.runs).values(), vars(runs).values(), strict=True)
            is_like = all(np.array_equal(one, other) for one, other in columns)
            self.is_banned |= self.events != events or not is_like
        self.events, self.runs = events, runs
        self.confirmed += 1


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
        self._tapes = (tensors, graph.rows, graph.edges, graph.roots)
        self._ends = list(map(len, self._tapes))
        self._kinds: dict[bytes, _Kind] = {}

    def signature(self, modes: tuple[int, ...]) -> bytes:
        """Return a hash that is equal for calls with equal graphs; empty if it cannot be computed.

        Call this once, after the graph of a call that begins has been walked.

        Parameters
        ----------
        modes
            How the call runs.
        """
        starts, self._ends = self._ends, list(map(len, self._tapes))
        if any(tape.start > start for tape, start in zip(self._tapes, starts, strict=True)):
            return b""
        widths = (TENSOR_CELLS, NODE_CELLS, EDGE_CELLS, ROOT_CELLS)
        tensors, nodes, edges, roots = (
            cells_of(tape, start).reshape(-1, width)
            for tape, start, width in zip(self._tapes, starts, widths, strict=True)
        )
        if not len(nodes):
            return b""  # the graph was walked for an earlier call, which is not known
        first = int(nodes[0, 0])
        # Nodes of earlier walks, leaves as a rule, are the very same.
        ends, begins = (
            np.where(keys < first, -1 - keys, keys - first) for keys in (edges[:, 1:3], roots[:, 1])
        )
        told = blake2b(repr((modes, len(tensors), len(nodes), len(edges))).encode())
        for cells in (tensors[:, _TENSOR_COLUMNS], nodes[:, 1], ends, begins, edges[:, 3]):
            told.update(cells.tobytes())
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
            is_known = span.signature in self._kinds
            if not span.signature or (not is_known and len(self._kinds) >= _MOST_KINDS):
                continue
            kind = self._kinds.setdefault(span.signature, _Kind())
            its_events = _inside(events.time_ns, events.thread, span)
            # When a device reserves memory is another matter.
            its_events = its_events[events.kind[its_events] <= FREE]
            times_ns = events.time_ns[its_events]
            told = np.stack((events.kind[its_events], events.bytes[its_events])).tobytes()
            kind.is_banned |= span.has_inner
            if span.has_runs:
                its_runs = runs.chosen(_inside(runs.start_ns, runs.thread, span))
                kind.learn(told, _between_events(its_runs, times_ns))
            elif kind.runs is not None and kind.events == told and not span.has_inner:
                parts.append(_replayed(kind.runs, times_ns, span))
            else:
                kind.is_banned = True
        if len(parts) == 1:
            return runs
        joined = GradNodeRuns.joined(parts)
        return joined.chosen(np.argsort(joined.start_ns, kind="stable"))


def _inside(time_ns: Int64s, thread: Int64s, span: BackwardSpan) -> Int64s:
    """Return positions of the times that fall into a call, in its thread; times must ascend."""
    first, last = np.searchsorted(time_ns, (span.start_ns, span.end_ns))
    found: Int64s = first + np.flatnonzero(thread[first:last] == span.thread)
    return found


def _between_events(runs: GradNodeRuns, times_ns: Int64s) -> GradNodeRuns:
    first = np.searchsorted(times_ns, runs.start_ns, side="left")
    last = np.searchsorted(times_ns, runs.end_ns, side="right")
    return GradNodeRuns(runs.names, first, last, np.zeros_like(first))


def _replayed(runs: GradNodeRuns, times_ns: Int64s, span: BackwardSpan) -> GradNodeRuns:
    """Return the grad nodes of an earlier call, placed between the same events of this call."""
    # Halfway between two events, or an event and the call's own border.
    borders = np.concatenate(([span.start_ns], times_ns, [span.end_ns]))
    halfway = borders[:-1] + (borders[1:] - borders[:-1]) // 2
    threads = np.full(len(runs), span.thread)
    return GradNodeRuns(runs.names, halfway[runs.start_ns], halfway[runs.end_ns], threads)
