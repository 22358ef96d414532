"""What a record says of ops: name, phase, what they read and made."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

import numpy as np

from paddle_lab.analysis.findings.facts.columns import RecordColumns, Slices
from paddle_lab.analysis.graph.trees import Keys, csr
from paddle_lab.trace.schema import PHASES, ROLES

FORWARD, BACKWARD, OPTIMIZER = range(len(PHASES))
_INPUT, _OUTPUT, _RESULT = (ROLES.index(role) for role in ("input", "output", "result"))


class OpFacts(RecordColumns):
    """Ops by key: the row in ``ops``."""

    def op_name(self, op: int) -> str:
        """Return Paddle's name of an op."""
        return self.record.strings[self._op_names[op]]

    @cached_property
    def _op_names(self) -> list[int]:
        return self.column("ops", "name")

    def ops_named(self, names: Collection[str]) -> Keys:
        """Return the ops that have one of these names, in order."""
        codes = [code for code, text in enumerate(self.record.strings) if text in names]
        return np.flatnonzero(np.isin(self.record.ops["name"], codes)).astype(np.int32)

    def attributes(self, op: int) -> str:
        """Return the arguments of an op's call that were no tensors, as text."""
        return self.record.text(int(self.record.ops["attributes"][op]))

    def phase(self, op: int) -> int:
        """Return :data:`FORWARD`, :data:`BACKWARD` or :data:`OPTIMIZER`."""
        return self._phases[op]

    @cached_property
    def _phases(self) -> list[int]:
        return self.column("ops", "phase")

    def inputs(self, op: int) -> list[int]:
        """Return the tensors that an op read, by slot."""
        starts, tensors = self._inputs
        return tensors[starts[op] : starts[op + 1]]

    def outputs(self, op: int) -> list[int]:
        """Return the tensors that an op made."""
        starts, tensors = self._outputs
        return tensors[starts[op] : starts[op + 1]]

    def results(self, op: int) -> list[int]:
        """Return the tensors that a PyLayer's own ops handed to its op."""
        starts, tensors = self._results
        return tensors[starts[op] : starts[op + 1]]

    @cached_property
    def _inputs(self) -> Slices:
        starts, tensors = self.input_rows
        return starts.tolist(), tensors.tolist()

    @cached_property
    def _outputs(self) -> Slices:
        starts, tensors = self.output_rows
        return starts.tolist(), tensors.tolist()

    @cached_property
    def _results(self) -> Slices:
        starts, tensors = self._rows_used(_RESULT)
        return starts.tolist(), tensors.tolist()

    @cached_property
    def input_rows(self) -> tuple[Keys, Keys]:
        """Where the tensors that each op read start, with the end of the last, and these."""
        return self._rows_used(_INPUT)

    @cached_property
    def output_rows(self) -> tuple[Keys, Keys]:
        """Where the tensors that each op made start, with the end of the last, and these."""
        return self._rows_used(_OUTPUT)

    def _rows_used(self, role: int) -> tuple[Keys, Keys]:
        uses = self.record.uses
        is_used = (uses["role"] == role) & (uses["tensor"] >= 0)
        starts, order = csr(uses["op"][is_used], self.op_count)
        return starts, uses["tensor"][is_used][order]

    def is_pylayer(self, op: int) -> bool:
        """Tell whether an op is a call of a PyLayer."""
        return bool(self.record.ops["is_pylayer"][op])

    def slots(self, op: int, role: int) -> list[tuple[int, int]]:
        """Return slot and tensor of what an op used in one role (an index of ``ROLES``)."""
        starts, order = self._uses
        rows = order[starts[op] : starts[op + 1]].tolist()
        uses = self.record.uses
        return [
            (int(uses["slot"][row]), int(uses["tensor"][row]))
            for row in rows
            if uses["role"][row] == role
        ]

    @cached_property
    def _uses(self) -> tuple[Keys, Keys]:
        return csr(self.record.uses["op"], self.op_count)
