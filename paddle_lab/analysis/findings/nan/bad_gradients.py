"""Grad nodes that were given finite gradients and handed on NaN or Inf.

Where the forward op of such a node read or made NaN or Inf already, its backward only shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.nan.sources import Flow, Source, is_in_backward
from paddle_lab.analysis.graph.trees import Keys, csr
from paddle_lab.trace.schema import BACKWARD_KINDS

_PADDLE_GRAD = BACKWARD_KINDS.index("paddle.grad")
_LEAF = "GradNodeAccumulation"
_MOST_NODES = 20
"""Of one call: the user mends the first, and looks again."""


class BadGradients:
    """The edges of one backward call whose gradients had NaN or Inf."""

    def __init__(self, facts: Facts, call: int, edges: BackwardEdges) -> None:
        self.call = call
        self._facts = facts
        self._edges = edges
        stats = facts.record.grad_stats
        rows = np.flatnonzero(stats["backward_call"] == call)
        is_bad = (stats["nans"][rows] > 0) | (stats["infs"][rows] > 0)
        self._seen = set(stats["grad_edge"][rows].tolist())
        bad = rows[is_bad]
        self.edges = [edge for edge in stats["grad_edge"][bad].tolist() if edge >= 0]
        self._bad = set(self.edges)
        self._nan = set(stats["grad_edge"][rows[stats["nans"][rows] > 0]].tolist())
        self._bad_roots = set(stats["grad_node"][bad][stats["grad_edge"][bad] < 0].tolist())

    def first_nodes(self) -> list[int]:
        """Return the grad nodes that made bad gradients of finite ones, nearest the loss first."""
        sources = self._facts.record.grad_edges["source"]
        ops = self._facts.record.grad_nodes["op"]
        nodes = {int(sources[edge]) for edge in self.edges}
        first = [node for node in nodes if not self._was_given_bad(node)]
        return sorted(first, key=lambda node: (-int(ops[node]), node))[:_MOST_NODES]

    def path(self, node: int) -> list[int]:
        """Return a grad node and those that its bad gradients reached, in order."""
        targets = self._facts.record.grad_edges["target"]
        reached, pending = {node: None}, [node]
        for current in pending:
            for edge in self._edges.out_of(current):
                target = int(targets[edge])
                if target not in reached and (edge in self._bad or self._is_silent(current)):
                    reached[target] = None
                    pending.append(target)
        return list(reached)

    def is_nan(self, node: int) -> bool:
        """Tell whether a grad node handed on NaN, rather than only Inf."""
        return any(edge in self._nan for edge in self._edges.out_of(node))

    def reaches_leaf(self, node: int) -> bool:
        """Tell whether bad gradients of a grad node reached what the call was asked for."""
        record = self._facts.record
        if record.backward_calls["kind"][self.call] == _PADDLE_GRAD:
            return True
        targets = record.grad_edges["target"]
        return any(
            edge in self._bad
            and record.text(int(record.grad_nodes["name"][targets[edge]])) == _LEAF
            for current in self.path(node)
            for edge in self._edges.out_of(current)
        )

    def _is_silent(self, node: int) -> bool:
        """Tell whether nothing that a grad node handed on was looked at: some take no hook."""
        return not any(edge in self._seen for edge in self._edges.out_of(node))

    def _was_given_bad(self, node: int) -> bool:
        sources = self._facts.record.grad_edges["source"]
        passed, pending = {node}, [node]
        while pending:
            current = pending.pop()
            if current in self._bad_roots:
                return True
            for edge in self._edges.into(current):
                if edge in self._bad:
                    return True
                source = int(sources[edge])
                # What this node passed on was not seen: the gradients it received count instead.
                if source not in passed and self._is_silent(source):
                    passed.add(source)
                    pending.append(source)
        return False


class BackwardEdges:
    """The edges of a record's backward graphs, by their ends."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def out_of(self, node: int) -> list[int]:
        """Return the edges on which a grad node hands gradients on."""
        starts, order = self._out
        found: list[int] = order[starts[node] : starts[node + 1]].tolist()
        return found

    def into(self, node: int) -> list[int]:
        """Return the edges on which a grad node is given gradients."""
        starts, order = self._into
        found: list[int] = order[starts[node] : starts[node + 1]].tolist()
        return found

    @cached_property
    def _out(self) -> tuple[Keys, Keys]:
        record = self._facts.record
        return csr(record.grad_edges["source"], len(record.grad_nodes))

    @cached_property
    def _into(self) -> tuple[Keys, Keys]:
        record = self._facts.record
        return csr(record.grad_edges["target"], len(record.grad_nodes))


def bad_gradients(facts: Facts) -> list[BadGradients]:
    """Return the backward calls that met NaN or Inf, in order."""
    stats = facts.record.grad_stats
    is_bad = (stats["nans"] > 0) | (stats["infs"] > 0)
    calls = sorted(set(stats["backward_call"][is_bad].tolist()) & set(facts.user_backward_calls))
    edges = BackwardEdges(facts)
    return [BadGradients(facts, call, edges) for call in calls]


def add_backward_sources(flow: Flow, calls: list[BadGradients]) -> None:
    """Add grad nodes to a flow's sources, and note which sources came as far as a gradient."""
    facts = flow.facts
    # A backward call inside another one, as in recomputation, is listed later but counts first.
    for call in reversed(calls):
        for node in call.first_nodes():
            is_nan, reaches_leaf = call.is_nan(node), call.reaches_leaf(node)
            op = int(facts.record.grad_nodes["op"][node])
            known = list(_known_sources(flow, op)) if op >= 0 else []
            if not known:
                known = [
                    flow.add(Source("backward", op, grad_node=node, backward_call=call.call,
                                    is_nan=is_nan))
                ]  # fmt: skip
            for number in known:
                source = flow.sources[number]
                if reaches_leaf:
                    source.reaches.add("gradient")
                if source.kind != "backward":
                    source.backward_call, source.grad_node = call.call, node


def _known_sources(flow: Flow, op: int) -> Iterator[int]:
    """Yield the sources that explain why the grad node of an op made bad gradients."""
    yield from flow.of_op(op)
    facts = flow.facts
    if not facts.is_pylayer(op):
        return
    # Its backward runs in Python: an op in there did it, or a backward call of its own.
    for number, source in enumerate(flow.sources):
        if is_in_backward(facts, source) and _is_inside(
            facts, int(facts.record.ops["scope"][source.op]), op
        ):
            yield number
        elif source.kind == "backward":
            scope = int(facts.record.backward_calls["scope"][source.backward_call])
            if _is_inside(facts, scope, op):
                yield number


def _is_inside(facts: Facts, scope: int, pylayer: int) -> bool:
    scopes = facts.record.scopes
    while scope >= 0:
        if scopes["op"][scope] == pylayer:
            return True
        scope = int(scopes["parent"][scope])
    return False
