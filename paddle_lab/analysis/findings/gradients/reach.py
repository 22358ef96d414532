"""How far gradients really went: past no op whose gradient is always zero."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts import Event, Facts, walk

ZERO_GRADIENT = frozenset(
    name + suffix
    for name in ("round", "floor", "ceil", "trunc", "sign", "heaviside")
    for suffix in ("", "_")
)
"""Ops that have a grad node which hands on nothing but zeros: their outputs come in steps."""

_INTEGERS = ("int", "uint", "bool")


def is_integer(dtype: str) -> bool:
    """Tell whether a dtype holds no fractions: every gradient through it is zero."""
    return dtype.startswith(_INTEGERS)


class GradientReach:
    """The grad nodes and leaves that a gradient of the user's backward calls came to."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def nodes(self) -> npt.NDArray[np.bool_]:
        """Whether a gradient reached a grad node, shape ``[grad_nodes]``."""
        reached = self._graph_of(self._calls_to_leaves)
        for call in self._facts.user_backward_calls:
            if call in self._facts.targets:
                reached[list(self._on_the_way(call))] = True
        return reached

    @cached_property
    def ops(self) -> npt.NDArray[np.bool_]:
        """Whether a gradient reached a grad node of an op, shape ``[ops]``."""
        return self._facts.ops_of_nodes(self.nodes)

    @cached_property
    def leaves(self) -> frozenset[int]:
        """The tensors that a gradient came to, as their first values."""
        return self._facts.leaves_of_nodes(self.nodes)

    @cached_property
    def left_aside(self) -> frozenset[int]:
        """Leaves of graphs that ``paddle.grad`` ran through for the gradients of others alone."""
        if not self._facts.targets:
            return frozenset()
        graphs = self._graph_of(self._facts.user_backward_calls)
        return self._facts.leaves_of_nodes(graphs) - self.leaves

    @cached_property
    def stopped(self) -> frozenset[int]:
        """Leaves that gradients would have reached without ``no_grad_vars``."""
        facts = self._facts
        if not any(map(facts.stops, facts.user_backward_calls)):
            return frozenset()
        free = np.zeros(len(facts.record.grad_nodes), np.bool_)
        for call in facts.user_backward_calls:
            free[list(self._led_to([call], self._shut_edges(call)))] = True
        return self.left_aside - self._facts.leaves_of_nodes(free)

    @cached_property
    def handed_over(self) -> frozenset[int]:
        """Leaves whose gradients ``paddle.grad`` returned, and no call accumulated."""
        if not self._facts.targets:
            return frozenset()
        return self.leaves - self._facts.leaves_of_nodes(self._graph_of(self._calls_to_leaves))

    def call_past(self, leaf: int) -> int:
        """Return the first call that left a leaf aside, -1 where none did."""
        facts = self._facts
        calls = facts.user_backward_calls if leaf in self.left_aside else []
        for call in calls:
            if call in facts.targets and leaf in facts.leaves_of_nodes(self._graph_of([call])):
                return call
        return -1

    @cached_property
    def left_out(self) -> dict[int, dict[int, Event]]:
        """Of PyLayers' ops, the inputs for which ``backward`` returned None, and the events."""
        found: dict[int, dict[int, Event]] = {}
        for event in self._facts.events("gradient_stopped"):
            way, _, numbers = event.detail.partition(" ")
            op = self._facts.pylayer_op(event.scope)
            if way == "pylayer" and op >= 0:
                inputs = found.setdefault(op, {})
                inputs.update((int(number), event) for number in numbers.split(","))
        return found

    @property
    def _calls_to_leaves(self) -> list[int]:
        calls, targets = self._facts.user_backward_calls, self._facts.targets
        return [call for call in calls if call not in targets]

    def _graph_of(self, calls: list[int]) -> npt.NDArray[np.bool_]:
        """Return for each grad node whether calls would reach it if they went to every leaf."""
        facts = self._facts
        if not self._closed_edges:
            return facts.nodes_of_calls(calls)
        reached = np.zeros(len(facts.record.grad_nodes), np.bool_)
        reached[list(self._led_to(calls, self._closed_edges))] = True
        return reached

    def _led_to(self, calls: list[int], shut: frozenset[int]) -> Iterator[int]:
        """Yield the nodes to which calls lead, but for some edges."""
        facts = self._facts
        roots = (root for call in calls for root in facts.roots(call))
        return walk(
            roots,
            lambda node: [facts.edge_target(e) for e in facts.edges_out(node) if e not in shut],
        )

    def _on_the_way(self, call: int) -> Iterator[int]:
        """Yield the nodes between roots and targets: no other is run where targets are asked."""
        facts, shut = self._facts, self._shut_edges(call)
        led_to = set(self._led_to([call], shut))

        def before(node: int) -> Iterator[int]:
            sources = (facts.edge_source(edge) for edge in facts.edges_in(node) if edge not in shut)
            return (source for source in sources if source in led_to)

        return walk(facts.targets[call] & led_to, before)

    @cached_property
    def _closed_edges(self) -> frozenset[int]:
        """The edges that hand on no gradient, or one of zeros."""
        facts, record = self._facts, self._facts.record
        edges, ops = record.grad_edges, record.grad_nodes["op"]
        op = ops[edges["source"]]
        dead = np.isin(record.ops["name"], facts.codes(ZERO_GRADIENT.__contains__))
        is_closed = np.isin(edges["dtype"], facts.codes(is_integer))
        is_closed |= np.append(dead, False)[op]
        for edge in np.flatnonzero(np.isin(op, list(self.left_out))).tolist():
            is_closed[edge] |= int(edges["slot"][edge]) in self.left_out[int(op[edge])]
        return frozenset(np.flatnonzero(is_closed).tolist())

    def _shut_edges(self, call: int) -> frozenset[int]:
        """Return the edges over which a call let nothing pass, those of ``no_grad_vars`` included.

        An op that reads two outputs of one other, of which only one was named, still hands the
        gradient of the other to the same grad node.
        """
        facts, stops = self._facts, set(self._facts.stops(call))
        if not stops:
            return self._closed_edges
        leaves = {facts.first_value(tensor) for tensor in stops if facts.producer(tensor) < 0}
        makers = {facts.producer(tensor) for tensor in stops} - {-1}
        nodes = [node for maker in makers for node in facts.grad_nodes(maker)]
        to_leaves = [edge for leaf in leaves for edge in self._edges_to_leaf.get(leaf, ())]
        into_nodes = (edge for node in nodes for edge in facts.edges_in(node))
        alone = (edge for edge in into_nodes if self._reads_alone(edge, stops))
        return self._closed_edges.union(to_leaves, alone)

    def _reads_alone(self, edge: int, stops: set[int]) -> bool:
        """Tell whether an op reads only the named ones of the tensors that another op made."""
        facts = self._facts
        reader, maker = (
            facts.op_of_node(end(edge)) for end in (facts.edge_source, facts.edge_target)
        )
        if reader < 0 or reader == maker:
            return False
        read = {one for one in facts.inputs(reader) if facts.producer(one) == maker}
        return bool(read) and read <= stops

    @cached_property
    def _edges_to_leaf(self) -> dict[int, list[int]]:
        facts = self._facts
        leaves, edges = facts.record.grad_nodes["parameter"], dict[int, list[int]]()
        for node in np.flatnonzero(leaves >= 0).tolist():
            leaf = facts.first_value(int(leaves[node]))
            edges.setdefault(leaf, []).extend(facts.edges_in(node))
        return edges
