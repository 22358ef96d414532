"""Grad nodes that got finite gradients and passed on NaN or Inf.

A node is omitted if its forward op read or made NaN or Inf, because then the forward is at fault.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from paddle_lab.analysis.findings.facts import Facts, walk
from paddle_lab.analysis.findings.facts.backward import with_bad_numbers
from paddle_lab.analysis.findings.nan.sources import Flow, Source, is_in_backward
from paddle_lab.trace.grad_node_order import LEAF_NAME

_MOST_NODES = 20
"""The most nodes reported per call: users fix the first and run again."""


class BadGradients:
    """The edges of one backward call whose gradients had NaN or Inf (bad gradients)."""

    def __init__(self, facts: Facts, call: int) -> None:
        self.call = call
        self._facts = facts
        stats = facts.record.grad_stats
        rows = np.flatnonzero(stats["backward_call"] == call)
        bad = rows[with_bad_numbers(stats)[rows]]
        self._seen = set(stats["grad_edge"][rows].tolist())
        self._bad = set(stats["grad_edge"][bad].tolist()) - {-1}
        self._nan = set(stats["grad_edge"][rows[stats["nans"][rows] > 0]].tolist())
        self._bad_roots = set(stats["grad_node"][bad][stats["grad_edge"][bad] < 0].tolist())

    def first_nodes(self) -> list[int]:
        """Return the grad nodes at which bad gradients began, the nearest to the loss first."""
        facts = self._facts
        nodes = set(map(facts.edge_source, self._bad))
        first = [node for node in nodes if not self._was_given_bad(node)]
        return sorted(first, key=lambda node: (-facts.op_of_node(node), node))[:_MOST_NODES]

    def path(self, node: int) -> list[int]:
        """Return a grad node and the grad nodes that got its bad gradients, in order."""
        facts = self._facts

        def handed_bad(node: int) -> list[int]:
            edges, is_silent = facts.edges_out(node), self._is_silent(node)
            return [facts.edge_target(edge) for edge in edges if is_silent or edge in self._bad]

        return list(walk([node], handed_bad))

    def is_nan(self, node: int) -> bool:
        """Tell whether a grad node passed on NaN, not only Inf."""
        return not self._nan.isdisjoint(self._facts.edges_out(node))

    def reaches_leaf(self, node: int) -> bool:
        """Tell whether a node's bad gradients reached a leaf or the result of ``paddle.grad``."""
        facts = self._facts
        return facts.is_paddle_grad(self.call) or any(
            edge in self._bad and facts.grad_node_name(facts.edge_target(edge)) == LEAF_NAME
            for current in self.path(node)
            for edge in facts.edges_out(current)
        )

    def _is_silent(self, node: int) -> bool:
        """Tell whether no outgoing gradient of a grad node was seen, because it accepts no hook."""
        return self._seen.isdisjoint(self._facts.edges_out(node))

    def _was_given_bad(self, node: int) -> bool:
        facts = self._facts

        def silent_before(node: int) -> list[int]:
            # The gradients that a silent node passed on were not seen. Look at those that it got.
            return list(filter(self._is_silent, map(facts.edge_source, facts.edges_in(node))))

        return any(
            one in self._bad_roots or not self._bad.isdisjoint(facts.edges_in(one))
            for one in walk([node], silent_before)
        )


def bad_gradients(facts: Facts) -> dict[int, BadGradients]:
    """Return the backward calls with NaN or Inf in gradients, in order, and their bad gradients."""
    stats = facts.record.grad_stats
    bad = set(stats["backward_call"][with_bad_numbers(stats)].tolist())
    return {call: BadGradients(facts, call) for call in facts.user_backward_calls if call in bad}


def add_backward_sources(flow: Flow) -> None:
    """Add grad nodes as sources, and note which sources reached a gradient."""
    # A backward call inside another one, as in recomputation, is listed later but runs first.
    for call, gradients in reversed(flow.facts.answer(bad_gradients).items()):
        for node in gradients.first_nodes():
            op = flow.facts.op_of_node(node)
            known = list(_known_sources(flow, op)) if op >= 0 else []
            if not known:
                is_nan = gradients.is_nan(node)
                known = [flow.add(Source("backward", op, is_nan=is_nan))]
            for source in map(flow.sources.__getitem__, known):
                if gradients.reaches_leaf(node):
                    source.reaches.add("gradient")
                source.backward_call, source.grad_node = call, node


def _known_sources(flow: Flow, op: int) -> Iterator[int]:
    """Yield the known sources that explain the bad gradients of an op's grad node."""
    yield from flow.of_op(op)
    facts = flow.facts
    if not facts.is_pylayer(op):
        return
    # A PyLayer's backward runs Python code, and an op or a backward call in it may be the source.
    for number, source in enumerate(flow.sources):
        if is_in_backward(facts, source):
            scope = int(facts.record.ops["scope"][source.op])
        elif source.kind == "backward":
            scope = int(facts.record.backward_calls["scope"][source.backward_call])
        else:
            continue
        if op in map(facts.pylayer_op, facts.scopes_around(scope)):
            yield number
