"""Calls of models that built a backward graph which no backward call went through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from paddle_lab.analysis.findings.facts import FORWARD, PARAMETER, Facts
from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.analysis.findings.gradients.weights_alone import WeightsAlone
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
    """The calls of one trace whose graphs were not used.

    Parameters
    ----------
    facts
        The record that is asked.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._cuts = GradientCuts.of(facts)

    def each(self) -> Iterator[UnusedCall]:
        """Iterate over the calls, in order."""
        for key, ops in self._calls.items():
            if not self._is_reached(ops):
                call = self._followed(key, ops)
                if call is not None:
                    yield call

    def used_ops(self) -> Iterator[int]:
        """Iterate over the first ops of the calls whose graphs were used."""
        for ops in self._calls.values():
            if self._is_reached(ops):
                yield ops[0]

    def _is_reached(self, ops: list[int]) -> bool:
        return any(self._facts.reached_ops[op] for op in ops)

    @cached_property
    def _calls(self) -> dict[tuple[bool, int], list[int]]:
        """Ops that read trainable parameters and have a gradient, by their outermost layer call.

        Who looks at the weights alone, at a norm, at how far they moved, runs no model.
        """
        record = self._facts.record
        uses, scopes = record.uses, record.ops["scope"].tolist()
        known = (uses["op"] >= 0) & (uses["tensor"] >= 0)
        op, tensor, role = (uses[name][known] for name in ("op", "tensor", "role"))
        needs_grad = record.tensors["stop_gradient"][tensor] == 0
        is_parameter = record.tensors["kind"][tensor] == PARAMETER
        reading = op[(role == _INPUT) & is_parameter & needs_grad]
        # What is written into a parameter, under ``no_grad``, has no graph.
        carrying = op[(role == _OUTPUT) & needs_grad & ~is_parameter]
        both = np.intersect1d(reading, carrying)
        calls: dict[tuple[bool, int], list[int]] = {}
        outermost, weights = self._facts.outermost_layer_calls, WeightsAlone(self._facts)
        for one in both[record.ops["phase"][both] == FORWARD].tolist():
            if not self._cuts.is_in_pylayer(one):
                call = outermost[scopes[one]] if scopes[one] >= 0 else -1
                if call < 0 and weights.reads(one):
                    continue
                calls.setdefault((call >= 0, call if call >= 0 else one), []).append(one)
        return calls

    def _followed(self, key: tuple[bool, int], ops: list[int]) -> UnusedCall | None:
        """Follow a call's results; None where the graph was used after all."""
        facts, cuts = self._facts, self._cuts
        is_call, scope = key
        call = UnusedCall(ops[0], is_call, is_call and scope in self._eval_scopes, list(ops))
        pending = [out for op in ops for out in facts.outputs(op) if self._carries(out)]
        seen = set(pending)
        while pending and len(seen) < _FARTHEST:
            row = pending.pop()
            if row in self._cut_rows:
                return None
            call.is_living |= row in facts.living
            call.is_in_loss |= cuts.leads_to_loss(row)
            call.is_looked_at |= any(one in self._read for one in (row, *cuts.copies(row)))
            call.is_in_loss |= any(cuts.leads_to_loss(copy) for copy in cuts.copies(row))
            for op in facts.consumers(row):
                if facts.phase(op) != FORWARD or cuts.is_in_pylayer(op):
                    continue
                if facts.reached_ops[op]:
                    return None
                outputs = facts.outputs(op)
                carrying = [out for out in outputs if self._carries(out)]
                call.is_looked_at |= bool(outputs) and not carrying
                call.is_in_loss |= any(map(cuts.leads_to_loss, outputs))
                if carrying:
                    call.ops.append(op)
                fresh = [out for out in carrying if out not in seen]
                seen.update(fresh)
                pending.extend(fresh)
        return call

    def _carries(self, tensor: int) -> bool:
        facts = self._facts
        return facts.needs_grad(tensor) and facts.tensor_kind(tensor) != PARAMETER

    @cached_property
    def _cut_rows(self) -> frozenset[int]:
        """Tensors at which ``gradient-cut`` says why no gradient came."""
        return frozenset(cut.source for cut in self._cuts.found)

    @cached_property
    def _read(self) -> frozenset[int]:
        tensors = self._facts.record.events["tensor"]
        return frozenset(int(tensors[event]) for event in self._facts.events("read"))

    @cached_property
    def _eval_scopes(self) -> frozenset[int]:
        return frozenset(self._facts.record.eval_scopes["scope"].tolist())
