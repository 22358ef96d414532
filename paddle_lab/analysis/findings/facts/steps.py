"""What a record says of the run: events, optimizer steps, calls of layers."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from paddle_lab.analysis.findings.facts.columns import RecordColumns
from paddle_lab.analysis.graph.trees import nearest_marked
from paddle_lab.trace.schema import EVENT_KINDS, SCOPE_KINDS


class StepFacts(RecordColumns):
    """Events, steps and scopes, by time."""

    def events(self, kind: str) -> list[int]:
        """Return the rows of ``events`` of one kind, in order."""
        is_kind = self.record.events["kind"] == EVENT_KINDS.index(kind)
        rows: list[int] = np.flatnonzero(is_kind).tolist()
        return rows

    @cached_property
    def step_ends(self) -> list[int]:
        """How many ops had been called at the end of each optimizer step, by time."""
        return [ops[-1] + 1 for ops in self.step_ops]

    @cached_property
    def step_ops(self) -> list[list[int]]:
        """The ops of each optimizer step, by time."""
        scopes, parents = self.record.scopes["kind"], self.record.scopes["parent"]
        step = np.where(scopes == SCOPE_KINDS.index("optimizer"), np.arange(len(scopes)), -1)
        if not np.any(step >= 0):
            return []
        of_scope: list[int] = step.tolist()
        for scope, parent in enumerate(parents.tolist()):
            if 0 <= parent < scope and of_scope[parent] >= 0:
                of_scope[scope] = of_scope[parent]
        step_of_op = np.append(of_scope, -1)[self.record.ops["scope"]]
        ops: dict[int, list[int]] = {}
        for op in np.flatnonzero(step_of_op >= 0).tolist():
            ops.setdefault(int(step_of_op[op]), []).append(op)
        return sorted(ops.values())

    @cached_property
    def outermost_layer_calls(self) -> list[int]:
        """Of each scope, the outermost call of a layer around it, -1 where there is none."""
        scopes = self.record.scopes
        is_call, parent = scopes["kind"] == SCOPE_KINDS.index("layer"), scopes["parent"]
        above = np.append(nearest_marked(parent, is_call), -1)[parent]
        outermost: list[int] = nearest_marked(parent, is_call & (above < 0)).tolist()
        return outermost
