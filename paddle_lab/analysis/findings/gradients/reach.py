"""Finds the grad nodes and leaves that got gradients. Ops with a zero gradient stop gradients."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np

from paddle_lab.analysis.findings.facts import Event, Facts, walk
from paddle_lab.analysis.findings.facts.ops import Mask
from paddle_lab.analysis.findings.finding import Place
from paddle_lab.analysis.source.stacks import Frame


class GradientModes:
    """When gradients were switched off, for each thread."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        switches = [
            *((event, True) for event in facts.events("gradient_off")),
            *((event, False) for event in facts.events("gradient_on")),
        ]
        self._switches: dict[int, list[tuple[Event, bool]]] = {}
        for event, is_off in sorted(switches):
            self._switches.setdefault(event.thread, []).append((event, is_off))

    def switched_off_by(self, op: int) -> Event | None:
        """Return the ``gradient_off`` event that applied to an op, None if gradients were on."""
        switches = self._switches.get(int(self._facts.record.ops["thread"][op]), [])
        last = bisect_right(switches, op, key=lambda switch: switch[0].ops_before) - 1
        event, is_off = switches[last] if last >= 0 else (None, False)
        return event if is_off else None

    def is_of_paddles_layers(self, event: Event) -> bool:
        """Tell whether a layer of Paddle switched gradients off, not the user's code.

        Some layers do this by design, such as ``spectral_norm`` while it estimates a weight's norm.
        """
        for frame, _ in self._frames(event.stack):
            file = frame.file.replace("\\", "/")
            if "/paddle/base/" not in file:  # Paddle's files that define no_grad
                # ``Layer.__call__`` runs what the user decorated.
                is_layers = "/paddle/nn/" in file and not frame.function.endswith("__call__")
                return frame.kind == "paddle" and is_layers
        return False

    def place(self, op: int, event: Event) -> Place:
        """Return the line that called an op, in the function that contains the ``with no_grad``.

        For a function decorated with ``no_grad``, this is a line inside the function.
        """
        calls = {call for _, call in self._frames(event.stack)}
        inner: Place | None = None
        for frame, call in self._frames(self._facts.stack(op)):
            inner = (Place.of(frame) if frame.kind == "user" else None) or inner
            if call in calls:
                break
        else:
            inner = None
        return inner or self._facts.place(op)

    def _frames(self, stack: int) -> Iterator[tuple[Frame, object]]:
        """Yield the frames of a stack, the innermost first, and a key of each frame's call.

        The key consists of the caller's stack and the function. So all lines of one call have the
        same key.
        """
        stacks = self._facts.record.stacks
        while stack >= 0:
            row, caller = int(stacks["frame"][stack]), int(stacks["caller"][stack])
            if row >= 0:
                frame = Frame(self._facts.record, row)
                yield frame, (caller, frame.cell, frame.file, frame.function)
            stack = caller


_STEPS = ("round", "floor", "ceil", "trunc", "sign", "heaviside")
ZERO_GRADIENT = frozenset((*_STEPS, *(f"{name}_" for name in _STEPS)))
"""Ops whose gradient is always zero, because their outputs are step functions."""


def is_integer(dtype: str) -> bool:
    """Tell whether a dtype has only whole numbers, which have no gradient."""
    return dtype.startswith(("int", "uint", "bool"))


class GradientReach:
    """The grad nodes and leaves that gradients of the user's backward calls reached.

    ``paddle.grad`` runs only the grad nodes between its roots and its requested inputs.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._asked = [call for call in facts.user_backward_calls if call in facts.targets]
        self.nodes = self._graph_of(call for call in facts.user_backward_calls
                                    if call not in facts.targets)  # fmt: skip
        """Whether a gradient reached a grad node, shape ``[grad_nodes]``."""
        accumulated = facts.leaves_of_nodes(self.nodes)
        for call in self._asked:
            self.nodes |= self._on_the_way(call)
        self.ops = facts.ops_of_nodes(self.nodes)
        """Whether a gradient reached a grad node of an op, shape ``[ops]``."""
        self.leaves = facts.leaves_of_nodes(self.nodes)
        """The leaves that a gradient reached, as their first values."""
        self.handed_over = self.leaves - accumulated
        """Leaves whose gradients were only returned by ``paddle.grad``, never accumulated."""
        self.left_aside = facts.leaves_of_nodes(self._graph_of(self._asked)) - self.leaves
        """Leaves in graphs of ``paddle.grad`` calls that requested only other gradients."""

    @cached_property
    def kept_away(self) -> frozenset[int]:
        """Unreached leaves in the graphs of calls with ``no_grad_vars``. This may be intended."""
        calls = np.unique(self._facts.record.grad_stops["backward_call"]).tolist()
        return self._facts.leaves_of_nodes(self._graph_of(calls)) - self.leaves

    def call_past(self, leaf: int) -> int:
        """Return the first ``paddle.grad`` call that did not request a leaf of its graph, or -1."""
        for call in self._asked if leaf in self.left_aside else []:
            if leaf in self._facts.leaves_of_nodes(self._graph_of([call])):
                return call
        return -1

    @cached_property
    def left_out(self) -> dict[int, dict[int, Event]]:
        """For each PyLayer op: the inputs for which ``backward`` returned None, and the events."""
        found: dict[int, dict[int, Event]] = {}
        for event in self._facts.events("gradient_stopped"):
            way, _, numbers = event.detail.partition(" ")
            op = self._facts.pylayer_op(event.scope)
            if way == "pylayer" and op >= 0:
                inputs = found.setdefault(op, {})
                inputs.update((int(number), event) for number in numbers.split(","))
        return found

    def _graph_of(self, calls: Iterable[int]) -> Mask:
        """Return which grad nodes gradients would reach if each call ran to every leaf."""
        facts, calls = self._facts, list(calls)
        if not self._closed_edges:
            return facts.nodes_of_calls(calls)
        roots = (root for call in calls for root in facts.roots(call))
        return self._marked(walk(roots, self._targets))

    def _on_the_way(self, call: int) -> Mask:
        facts, led_to = self._facts, self._graph_of([call])

        def before(node: int) -> list[int]:
            edges = (edge for edge in facts.edges_in(node) if edge not in self._closed_edges)
            return [source for source in map(facts.edge_source, edges) if led_to[source]]

        return self._marked(walk((node for node in facts.targets[call] if led_to[node]), before))

    def _targets(self, node: int) -> list[int]:
        edges = self._facts.edges_out(node)
        return [self._facts.edge_target(edge) for edge in edges if edge not in self._closed_edges]

    def _marked(self, nodes: Iterable[int]) -> Mask:
        marked = np.zeros(len(self._facts.record.grad_nodes), np.bool_)
        marked[list(nodes)] = True
        return marked

    @cached_property
    def _closed_edges(self) -> frozenset[int]:
        """The edges on which no gradient flows, or only zeros."""
        facts, record = self._facts, self._facts.record
        edges = record.grad_edges
        op = record.grad_nodes["op"][edges["source"]]
        integers = [code for code, text in enumerate(record.strings) if is_integer(text)]
        is_closed = np.append(facts.is_named(ZERO_GRADIENT), False)[op]
        is_closed |= np.isin(edges["dtype"], integers)
        for edge in np.flatnonzero(np.isin(op, list(self.left_out))).tolist():
            is_closed[edge] |= int(edges["slot"][edge]) in self.left_out[int(op[edge])]
        return frozenset(np.flatnonzero(is_closed).tolist())
