"""What was computed from parameters and nothing else: norms, copies, distances of weights."""

from __future__ import annotations

from paddle_lab.analysis.findings.facts import EXTERNAL, PARAMETER, Facts, walk


class WeightsAlone:
    """What was made of parameters without any data."""

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
