"""Calls of models that built a backward graph which no backward call went through."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np

from paddle_lab.analysis.findings.facts import EXTERNAL, FORWARD, PARAMETER, Facts, walk
from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.trace.schema import ROLES

_INPUT, _OUTPUT = ROLES.index("input"), ROLES.index("output")
_FARTHEST = 5000
"""Tensors after which a call's results are followed no further."""


@dataclass
class UnusedCall:
    """One call of an outermost layer, or one op beside all layers, and what became of it."""

    op: int
    """The first op that read parameters."""
    is_layer: bool
    is_eval: bool
    ops: list[int] = field(default_factory=list)
    """The ops whose grad nodes were never needed, including those after the call."""
    is_living: bool = False
    """Whether something with the graph was alive when the trace ended."""
    is_looked_at: bool = False
    """Whether Python read its values, or an op that has no gradient did."""
    is_in_loss: bool = False
    """Whether its values, without their graph, went into a loss."""


class UnusedCalls:
    """The calls of one trace whose graphs were not used."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._cuts = facts.answer(GradientCuts)
        self.used_ops: list[int] = []
        """The first ops of the calls whose graphs were used."""
        self.unused: list[UnusedCall] = []
        """The others, in order."""
        for key, ops in self._calls().items():
            if facts.reached_ops[ops].any():
                self.used_ops.append(ops[0])
            elif (call := self._followed(key, ops)) is not None:
                self.unused.append(call)

    def _calls(self) -> dict[tuple[bool, int], list[int]]:
        """Ops that read trainable parameters and have a gradient, by their outermost layer call.

        Who looks at the weights alone, at a norm, at how far they moved, runs no model.
        """
        facts, record = self._facts, self._facts.record
        uses, scopes = record.uses, record.ops["scope"]
        known = (uses["op"] >= 0) & (uses["tensor"] >= 0)
        op, tensor, role = (uses[name][known] for name in ("op", "tensor", "role"))
        needs_grad = record.tensors["stop_gradient"][tensor] == 0
        is_parameter = record.tensors["kind"][tensor] == PARAMETER
        reading = op[(role == _INPUT) & is_parameter & needs_grad]
        # What is written into a parameter, under ``no_grad``, has no graph.
        carrying = op[(role == _OUTPUT) & needs_grad & ~is_parameter]
        both = np.intersect1d(reading, carrying)
        calls: dict[tuple[bool, int], list[int]] = {}
        outermost, weights = facts.outermost_layer_calls, _WeightsAlone(facts)
        for one in both[record.ops["phase"][both] == FORWARD].tolist():
            if not facts.is_in_pylayer(one):
                call = outermost[scopes[one]] if scopes[one] >= 0 else -1
                if call >= 0 or not weights.reads(one):
                    calls.setdefault((call >= 0, call if call >= 0 else one), []).append(one)
        return calls

    def _followed(self, key: tuple[bool, int], ops: list[int]) -> UnusedCall | None:
        """Follow a call's results; None where the graph was used after all."""
        facts, cuts = self._facts, self._cuts
        is_call, scope = key
        call = UnusedCall(ops[0], is_call, is_call and scope in self._eval_scopes, list(ops))

        def readers(row: int) -> list[int]:
            readers = [op for op in facts.consumers(row) if facts.phase(op) == FORWARD]
            return [op for op in readers if not facts.is_in_pylayer(op)]

        def made_of(row: int) -> list[int]:
            return [out for op in readers(row) for out in self._carrying(op)]

        rows = islice(walk((out for op in ops for out in self._carrying(op)), made_of), _FARTHEST)
        for row in rows:
            if row in self._cut_rows or any(facts.reached_ops[op] for op in readers(row)):
                return None
            held = (row, *facts.copies(row))
            call.is_living |= row in facts.living
            call.is_looked_at |= not self._read.isdisjoint(held)
            call.is_in_loss |= any(map(cuts.leads_to_loss, held))
            for op in readers(row):
                outputs, carrying = facts.outputs(op), self._carrying(op)
                call.is_looked_at |= bool(outputs) and not carrying
                call.is_in_loss |= any(map(cuts.leads_to_loss, outputs))
                if carrying:
                    call.ops.append(op)
        return call

    def _carrying(self, op: int) -> list[int]:
        """Return the outputs of an op that carry its graph on."""
        facts, outputs = self._facts, self._facts.outputs(op)
        return [
            one for one in outputs if facts.needs_grad(one) and facts.tensor_kind(one) != PARAMETER
        ]

    @cached_property
    def _cut_rows(self) -> frozenset[int]:
        """Tensors at which ``gradient-cut`` says why no gradient came."""
        return frozenset(cut.source for cut in self._cuts.parameters)

    @cached_property
    def _read(self) -> frozenset[int]:
        return frozenset(event.tensor for event in self._facts.events("read"))

    @cached_property
    def _eval_scopes(self) -> frozenset[int]:
        return frozenset(self._facts.record.eval_scopes["scope"].tolist())


class _WeightsAlone:
    """What was made of parameters without any data: norms, copies, distances of weights."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._known: dict[int, bool] = {}

    def reads(self, op: int) -> bool:
        """Tell whether all that an op reads was made of parameters alone.

        What a parameter is subtracted from and has its shape, from before the trace, was one once.
        """
        facts, sources = self._facts, self._sources_of_op(op)
        others = [one for one in sources if not self._is_of_weights(one)]
        if not others:
            return bool(sources)
        shapes = {facts.shape(one) for one in facts.inputs(op) if one not in others}
        return facts.op_name(op) == "subtract" and all(
            self._is_external(one) and {facts.shape(one)} == shapes for one in others
        )

    def _is_of_weights(self, tensor: int) -> bool:
        known = self._known
        # What a tensor was made of has an earlier row.
        for row in sorted(walk([tensor], self._unknown_sources)):
            if row not in known:
                sources = self._sources(row)
                known[row] = self._facts.tensor_kind(row) == PARAMETER or (
                    bool(sources) and all(known.get(one, False) for one in sources)
                )
        return known[tensor]

    def _unknown_sources(self, row: int) -> list[int]:
        is_known = row in self._known or self._facts.tensor_kind(row) == PARAMETER
        return [] if is_known else self._sources(row)

    def _is_external(self, row: int) -> bool:
        while self._facts.detached_from(row) >= 0:
            row = self._facts.detached_from(row)
        return self._facts.tensor_kind(row) == EXTERNAL

    def _sources(self, row: int) -> list[int]:
        """Return what a tensor was made of."""
        if self._facts.detached_from(row) >= 0:
            return [self._facts.detached_from(row)]
        op = self._facts.producer(row)
        return self._sources_of_op(op) if op >= 0 else []

    def _sources_of_op(self, op: int) -> list[int]:
        written = {self._facts.previous(out) for out in self._facts.outputs(op)}
        inputs = self._facts.inputs(op)
        # What is written over is a place, unless it is all there is.
        return [one for one in inputs if one not in written] or inputs
