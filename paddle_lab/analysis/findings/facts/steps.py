"""What a record says of scopes: optimizer steps, calls of layers and of PyLayers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts.columns import Entry
from paddle_lab.analysis.findings.facts.events import EventFacts
from paddle_lab.analysis.graph.trees import Keys, nearest_marked
from paddle_lab.trace.schema import SCOPE_KINDS


class StepFacts(EventFacts):
    """Steps and scopes, by time."""

    @cached_property
    def step_ends(self) -> list[int]:
        """How many ops had been called at the end of each optimizer step, by time."""
        return [ops[-1] + 1 for ops in self.step_ops]

    @cached_property
    def step_ops(self) -> list[list[int]]:
        """The ops of each optimizer step, by time."""
        step_of_op = np.append(self._outermost("optimizer"), -1)[self.record.ops["scope"]]
        ops: dict[int, list[int]] = {}
        for op in np.flatnonzero(step_of_op >= 0).tolist():
            ops.setdefault(int(step_of_op[op]), []).append(op)
        return sorted(ops.values())

    @cached_property
    def outermost_layer_calls(self) -> list[int]:
        """Of each scope, the outermost call of a layer around it, -1 where there is none."""
        outermost: list[int] = self._outermost("layer").tolist()
        return outermost

    def _outermost(self, kind: str) -> Keys:
        is_kind, parent = self._is_scope(kind), self.record.scopes["parent"]
        above = np.append(nearest_marked(parent, is_kind), -1)[parent]
        return nearest_marked(parent, is_kind & (above < 0))

    def _is_scope(self, kind: str) -> npt.NDArray[np.bool_]:
        is_kind: npt.NDArray[np.bool_] = self.record.scopes["kind"] == SCOPE_KINDS.index(kind)
        return is_kind

    def scopes_around(self, scope: int) -> Iterator[int]:
        """Yield a scope and those around it, from the innermost out; none for -1."""
        while scope >= 0:
            yield scope
            scope = self._parent(scope)

    @cached_property
    def _parent(self) -> Entry:
        return self.entry("scopes", "parent")

    def pylayer_op(self, scope: int) -> int:
        """Return the op that a scope is the call of a PyLayer for, -1 for none."""
        return self._pylayer_op(scope) if scope >= 0 else -1

    @cached_property
    def _pylayer_op(self) -> Entry:
        return self.entry("scopes", "op")

    @cached_property
    def is_in_pylayer(self) -> Entry:
        """Whether an op runs inside a PyLayer, which is differentiated as a whole."""
        scopes = self.record.scopes
        is_inside = nearest_marked(scopes["parent"], self._is_scope("pylayer")) >= 0
        found = np.append(is_inside, False)[self.record.ops["scope"]]
        found[scopes["op"][scopes["op"] >= 0]] = False
        told: list[int] = found.tolist()
        return told.__getitem__
