"""Calls of models that built a backward graph, but no backward call used the graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Flag
from functools import cache, reduce
from operator import itemgetter, or_

import numpy as np

from paddle_lab.analysis.findings.facts import EXTERNAL, FORWARD, PARAMETER, Facts, walk
from paddle_lab.analysis.findings.finding import Place
from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.trace.trees import grouped


class Use(Flag):
    """What became of a tensor with a graph, and of all that was computed from it."""

    NONE = 0
    NEEDED = 1
    """A backward call came here, or another check says why none did."""
    LIVES = 2
    """It was alive when the trace ended."""
    LOOKED_AT = 4
    """Python, or an op without a gradient, read its values."""
    IN_LOSS = 8
    """Its values went into a loss without their graph."""


@dataclass
class UnusedCall:
    """A call of an outermost layer, or an op outside of layers, and how its result was used."""

    op: int
    """The first op of the call."""
    is_layer: bool
    is_eval: bool
    ops: list[int]
    """The ops whose grad nodes were never needed, including those after the call. None if they are
    all behind an earlier call from the same line."""
    use: Use


class UnusedCalls:
    """The calls of one trace whose graphs were not used."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._cuts = facts.answer(GradientCuts)
        # For these tensors, the check ``gradient-cut`` already reports a missing gradient.
        self._cut_rows = {cut.source for cut in self._cuts.parameters}
        self._read = {event.tensor for event in facts.events("read")}
        reached = facts.ops_of_nodes(facts.nodes_of_calls(facts.user_backward_calls))
        self._reached = reached.tolist().__getitem__
        eval_calls = set(facts.record.eval_scopes["scope"].tolist())
        self.used_ops: list[int] = []
        """The first ops of the calls whose graphs were used."""
        self.unused: list[UnusedCall] = []
        """The others, in order."""
        self._readers, self._carrying = cache(self._find_readers), cache(self._find_carrying)
        calls: dict[tuple[bool, int], list[int]] = {}
        for call, ops in self._calls().items():
            if any(map(self._reached, ops)):
                self.used_ops.append(ops[0])
            else:
                calls[call] = ops
        uses = self._uses(out for ops in calls.values() for op in ops for out in self._carrying(op))
        behind: dict[Place, set[int]] = {}
        for (is_layer, key), ops in calls.items():
            starts = [out for op in ops for out in self._carrying(op)]
            use = reduce(or_, (uses[row] for row in starts), Use.NONE)
            if Use.NEEDED in use:
                continue
            known = behind.setdefault(facts.model_place(ops[0]), set())
            own = [] if ops[0] in known else ops
            if own:
                rows = walk(starts, self._made_of)
                own = ops + [op for row in rows for op in self._readers(row) if self._carrying(op)]
                known.update(own)
            is_eval = is_layer and key in eval_calls
            self.unused.append(UnusedCall(ops[0], is_layer, is_eval, own, use))

    def _calls(self) -> dict[tuple[bool, int], list[int]]:
        """For each call: its ops that read trainable parameters and whose results need a gradient.

        A call is a call of an outermost layer, or a single op outside of layers. An op that reads
        only weights, such as a norm or a distance, is not a model's call.
        """
        facts, tensors = self._facts, self._facts.record.tensors
        needs_grad, is_parameter = tensors["stop_gradient"] == 0, tensors["kind"] == PARAMETER
        is_reader = facts.have("input", needs_grad & is_parameter)
        is_reader &= facts.have("output", needs_grad & ~is_parameter)
        is_reader &= (facts.record.ops["phase"] == FORWARD) & ~facts.are_in_pylayer
        readers = np.flatnonzero(is_reader)
        call_of = facts.layer_calls[facts.record.ops["scope"][readers]]
        calls = {(True, call): readers[rows].tolist() for call, rows in grouped(call_of).items()}
        for op in readers[call_of < 0].tolist():
            if not self.reads_weights_alone(op):
                calls[False, op] = [op]
        return dict(sorted(calls.items(), key=itemgetter(1)))

    def _uses(self, starts: Iterable[int]) -> dict[int, Use]:
        """Return the use of each tensor that was computed from ``starts``."""
        uses: dict[int, Use] = {}
        # What is computed from a tensor is computed later.
        for row in sorted(walk(starts, self._made_of), key=self._facts.producer, reverse=True):
            later = (uses[one] for one in self._made_of(row) if one in uses)
            uses[row] = reduce(or_, later, self._own_use(row))
        return uses

    def _own_use(self, row: int) -> Use:
        facts, leads_to_loss = self._facts, self._cuts.leads_to_loss
        if row in self._cut_rows or any(map(self._reached, self._readers(row))):
            return Use.NEEDED
        held = (row, *facts.copies(row))
        use = Use.LIVES if row in facts.living else Use.NONE
        use |= Use.NONE if self._read.isdisjoint(held) else Use.LOOKED_AT
        use |= Use.IN_LOSS if any(map(leads_to_loss, held)) else Use.NONE
        for op in self._readers(row):
            outputs = facts.outputs(op)
            use |= Use.LOOKED_AT if outputs and not self._carrying(op) else Use.NONE
            use |= Use.IN_LOSS if any(map(leads_to_loss, outputs)) else Use.NONE
        return use

    def _made_of(self, row: int) -> list[int]:
        return [out for op in self._readers(row) for out in self._carrying(op)]

    def _find_readers(self, row: int) -> list[int]:
        facts = self._facts
        ops = [op for op in facts.consumers(row) if facts.phase(op) == FORWARD]
        return [op for op in ops if not facts.is_in_pylayer(op)]

    def _find_carrying(self, op: int) -> list[int]:
        """Return the outputs of an op that need a gradient, except updated parameters."""
        facts = self._facts
        outputs = filter(facts.needs_grad, facts.outputs(op))
        return [one for one in outputs if facts.tensor_kind(one) != PARAMETER]

    def reads_weights_alone(self, op: int) -> bool:
        """Tell whether an op reads only values computed from parameters: norms, copies, distances.

        A constant number counts for nothing. A tensor from before the trace counts as a copy of a
        parameter if the op subtracts one from the other and both have the same shape.
        """
        facts = self._facts
        shapes = set(map(facts.shape, facts.inputs(op)))
        may_be_copy = facts.op_name(op) == "subtract" and len(shapes) == 1
        made_of = set(walk(facts.inputs(op), self._sources))
        first = {row for row in made_of if not self._sources(row)}
        numbers = {row for row in first if facts.shape(row) in {(), (1,)} and (
            facts.op_name(facts.producer(row)) == "full" and facts.producer(row) >= 0)}  # fmt: skip
        others = {row for row in first - numbers if facts.tensor_kind(row) != PARAMETER}
        return first - numbers != others and all(
            may_be_copy and facts.tensor_kind(row) == EXTERNAL and facts.shape(row) in shapes
            for row in others
        )

    def _sources(self, row: int) -> list[int]:
        """Return the tensors from which a tensor was computed; none for a parameter."""
        facts = self._facts
        if facts.tensor_kind(row) == PARAMETER:
            return []
        if facts.detached_from(row) >= 0:
            return [facts.detached_from(row)]
        op = facts.producer(row)
        inputs = facts.inputs(op) if op >= 0 else []
        # An overwritten input does not count, unless it is the op's only input.
        written = set(map(facts.previous, facts.outputs(op))) if op >= 0 else set[int]()
        return [one for one in inputs if one not in written] or inputs
