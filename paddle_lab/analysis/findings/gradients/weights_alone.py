"""What was computed from parameters and nothing else: norms, copies, distances of weights."""

from __future__ import annotations

from paddle_lab.analysis.findings.facts import EXTERNAL, PARAMETER, Facts


class WeightsAlone:
    """What was made of parameters without any data.

    Parameters
    ----------
    facts
        The record that is asked.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._detached_from = facts.record.tensors["detached_from"].tolist()
        self._previous = facts.record.tensors["previous"].tolist()
        self._known: dict[int, bool] = {}

    def reads(self, op: int) -> bool:
        """Tell whether all that an op reads was made of parameters alone.

        What a parameter is subtracted from and has its shape, from before the trace, was one once.
        """
        others = [one for one in self._sources_of_op(op) if not self._is_of_weights(one)]
        if not others:
            return bool(self._sources_of_op(op))
        facts = self._facts
        shapes = {facts.shape(one) for one in facts.inputs(op) if one not in others}
        return facts.op_name(op) == "subtract" and all(
            self._is_external(one) and {facts.shape(one)} == shapes for one in others
        )

    def _is_of_weights(self, tensor: int) -> bool:
        pending, begun = [tensor], set[int]()
        while pending:
            row = pending[-1]
            sources = [] if row in self._known else self._sources(row)
            waiting = [one for one in sources if one not in self._known and one not in begun]
            if self._facts.tensor_kind(row) == PARAMETER:
                self._known[row] = True
            elif waiting:
                begun.add(row)
                pending += waiting
                continue
            elif row not in self._known:
                self._known[row] = bool(sources) and all(map(self._is_known, sources))
            pending.pop()
        return self._known[tensor]

    def _is_external(self, row: int) -> bool:
        while self._detached_from[row] >= 0:
            row = self._detached_from[row]
        return self._facts.tensor_kind(row) == EXTERNAL

    def _is_known(self, row: int) -> bool:
        return self._known.get(row, False)

    def _sources(self, row: int) -> list[int]:
        """Return what a tensor was made of."""
        if self._detached_from[row] >= 0:
            return [self._detached_from[row]]
        op = self._facts.producer(row)
        return self._sources_of_op(op) if op >= 0 else []

    def _sources_of_op(self, op: int) -> list[int]:
        written = {self._previous[out] for out in self._facts.outputs(op)}
        inputs = self._facts.inputs(op)
        # What is written over is a place, unless it is all there is.
        return [one for one in inputs if one not in written] or inputs
