"""How far gradients really went: past no op whose gradient is always zero."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.gradients.stops import stopped_edges

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
    """The grad nodes and leaves that a gradient of the user's backward calls came to.

    Parameters
    ----------
    facts
        The record that is asked.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def nodes(self) -> npt.NDArray[np.bool_]:
        """Whether a gradient reached a grad node, shape ``[grad_nodes]``."""
        facts, targets = self._facts, self._facts.targets
        if not targets:
            return self.graph_nodes
        seen: set[int] = set()
        for call in facts.user_backward_calls:
            if call in targets:
                seen.update(self._on_the_way(call, targets[call]))
        reached = np.zeros(len(facts.record.grad_nodes), np.bool_)
        reached[list(seen)] = True
        others = [call for call in facts.user_backward_calls if call not in targets]
        return reached | self._graph_of(others)

    @cached_property
    def graph_nodes(self) -> npt.NDArray[np.bool_]:
        """Whether a gradient could have reached a grad node, had all calls gone to every leaf."""
        return self._graph_of(self._facts.user_backward_calls)

    def _graph_of(self, calls: list[int]) -> npt.NDArray[np.bool_]:
        facts = self._facts
        reached = np.zeros(len(facts.record.grad_nodes), np.bool_)
        if self._following is None and not self._dead_nodes:
            members = facts.record.backward_members
            reached[members["grad_node"][np.isin(members["backward_call"], calls)]] = True
        else:
            roots = facts.record.grad_roots
            is_asked = np.isin(roots["backward_call"], calls)
            reached[list(self._walked(roots["grad_node"][is_asked].tolist()))] = True
        return reached

    def _walked(
        self, roots: list[int], stopped: frozenset[tuple[int, int]] = frozenset()
    ) -> dict[int, list[int]]:
        """Return the nodes that gradients come to from some, each with where it hands them."""
        following, dead = self._following, self._dead_nodes
        following = self._facts.following_nodes if following is None else following
        walked: dict[int, list[int]] = {}
        pending = list(roots)
        while pending:
            node = pending.pop()
            if node not in walked:
                handed = [] if node in dead else following.get(node, [])
                if stopped:
                    handed = [one for one in handed if (node, one) not in stopped]
                walked[node] = handed
                pending.extend(walked[node])
        return walked

    def _on_the_way(self, call: int, targets: frozenset[int]) -> set[int]:
        """Return the nodes between roots and targets: no other is run where targets are asked."""
        leading: dict[int, list[int]] = {}
        stopped = stopped_edges(self._facts, call)
        for node, following in self._walked(self._facts.roots(call), stopped).items():
            leading.setdefault(node, [])
            for one in following:
                leading.setdefault(one, []).append(node)
        pending = [node for node in targets if node in leading]
        seen: set[int] = set()
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                pending.extend(leading[node])
        return seen

    @cached_property
    def ops(self) -> npt.NDArray[np.bool_]:
        """Whether a gradient reached a grad node of an op, shape ``[ops]``."""
        reached = np.zeros(self._facts.op_count, np.bool_)
        ops = self._facts.record.grad_nodes["op"][self.nodes]
        reached[ops[ops >= 0]] = True
        return reached

    @cached_property
    def leaves(self) -> frozenset[int]:
        """The tensors that a gradient came to, as their first values."""
        return self._leaves_of(self.nodes)

    @cached_property
    def left_aside(self) -> frozenset[int]:
        """Leaves of graphs that ``paddle.grad`` ran through for the gradients of others alone."""
        if not self._facts.targets:
            return frozenset()
        return self._leaves_of(self.graph_nodes) - self.leaves

    @cached_property
    def stopped(self) -> frozenset[int]:
        """Leaves that gradients would have come to, had nobody named ``no_grad_vars``."""
        facts = self._facts
        if not facts.stops:
            return frozenset()
        free = np.zeros(len(facts.record.grad_nodes), np.bool_)
        for call in facts.user_backward_calls:
            free[list(self._walked(facts.roots(call), stopped_edges(facts, call)))] = True
        return self.left_aside - self._leaves_of(free)

    @cached_property
    def handed_over(self) -> frozenset[int]:
        """Leaves whose gradients ``paddle.grad`` returned, and no call accumulated."""
        targets = self._facts.targets
        if not targets:
            return frozenset()
        others = [call for call in self._facts.user_backward_calls if call not in targets]
        return self.leaves - self._leaves_of(self._graph_of(others))

    def call_past(self, leaf: int) -> int:
        """Return the first call that left a leaf aside, -1 where none did."""
        if leaf not in self.left_aside:
            return -1
        calls = (call for call in self._facts.user_backward_calls if call in self._facts.targets)
        past = (call for call in calls if leaf in self._leaves_of(self._graph_of([call])))
        return next(past, -1)

    def _leaves_of(self, nodes: npt.NDArray[np.bool_]) -> frozenset[int]:
        leaves = self._facts.record.grad_nodes["parameter"][nodes]
        return frozenset(map(self._facts.first_value, leaves[leaves >= 0].tolist()))

    @cached_property
    def left_out(self) -> dict[int, dict[int, int]]:
        """Of PyLayers' ops, the inputs for which ``backward`` returned None, and the events."""
        record, facts = self._facts.record, self._facts
        found: dict[int, dict[int, int]] = {}
        for event in facts.events("gradient_stopped"):
            way, _, numbers = record.text(int(record.events["detail"][event])).partition(" ")
            scope = int(record.events["scope"][event])
            op = int(record.scopes["op"][scope]) if scope >= 0 else -1
            if way == "pylayer" and op >= 0:
                inputs = found.setdefault(op, {})
                inputs.update((int(number), event) for number in numbers.split(","))
        return found

    @cached_property
    def _following(self) -> dict[int, list[int]] | None:
        """Where nodes hand on gradients that are none of zeros; None for all there is."""
        record, left_out = self._facts.record, self.left_out
        edges = record.grad_edges
        dtypes = np.unique(edges["dtype"]).tolist()
        integers = {code for code in dtypes if is_integer(record.text(code))}
        if not integers and not left_out:
            return None
        columns = (edges[name].tolist() for name in ("source", "target", "slot", "dtype"))
        following: dict[int, list[int]] = {}
        for source, target, slot, dtype in zip(*columns, strict=True):
            is_left_out = left_out and slot in left_out.get(self._facts.op_of_node(source), ())
            if not is_left_out and dtype not in integers:
                following.setdefault(source, []).append(target)
        return following

    @cached_property
    def _dead_nodes(self) -> frozenset[int]:
        record = self._facts.record
        names, ops = record.ops["name"], record.grad_nodes["op"]
        codes = [code for code in np.unique(names).tolist() if record.text(code) in ZERO_GRADIENT]
        if not codes:
            return frozenset()
        is_dead = (ops >= 0) & np.isin(names[np.maximum(ops, 0)], codes)
        return frozenset(np.flatnonzero(is_dead).tolist())
