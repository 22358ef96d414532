"""Where NaN and Inf begin, and how they spread.

A *source* is an op that made NaN or Inf from finite numbers, a tensor that had NaN or Inf when the
trace first saw it, or a grad node whose backward made NaN or Inf. Each bad tensor refers to its
sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from paddle_lab.analysis.findings.facts import BACKWARD, GRADIENT, OPTIMIZER, PARAMETER, Facts
from paddle_lab.analysis.findings.nan.numbers import TensorNumbers

SourceKind = Literal["op", "outside", "gradient", "backward"]
Sources = tuple[int, ...]

_BAD_CONSTANT = re.compile(r"(?<![\w.'])-?(inf|nan)\b")
_UNINITIALISED = frozenset(("empty", "empty_like"))
_MOST_SOURCES = 8
"""The most sources kept per tensor; the first ones matter."""


@dataclass
class Source:
    """Where NaN or Inf began."""

    kind: SourceKind
    """``gradient``: a gradient with NaN or Inf that no known backward call made."""
    op: int
    """The op that made the value, or first read it, or made the grad node."""
    tensor: int = -1
    grad_node: int = -1
    backward_call: int = -1
    is_nan: bool = False
    """Whether the source first had NaN; else it had Inf."""
    is_meant: bool = False
    """Whether the source is a constant in the code, or memory that was not written yet."""
    became_nan: int = -1
    """The op that turned the Inf of this source into NaN, -1 for none."""
    reaches: set[str] = field(default_factory=set)
    """``loss``, ``parameter``, ``gradient``; ``end`` and ``inf_end`` for NaN and Inf in a tensor
    that no op read."""


class Flow:
    """The sources of NaN and Inf in a record. Each bad tensor refers to its sources."""

    def __init__(self, facts: Facts, numbers: TensorNumbers) -> None:
        self.facts = facts
        self.numbers = numbers
        self.sources: list[Source] = []
        self.nan_of: dict[int, Sources] = {}
        """Maps a tensor to the sources of its NaN."""
        self.inf_of: dict[int, Sources] = {}
        calls = facts.user_backward_calls
        self._first_backward = min(map(facts.ops_before, calls), default=facts.op_count)
        is_parameter = facts.record.tensors["kind"] == PARAMETER
        self._parameter_shapes = set(map(facts.shape, np.flatnonzero(is_parameter).tolist()))
        bad = numbers.bad_tensors
        self.bad_ops = sorted(set(map(facts.producer, bad)) - {-1})
        """Ops that made or passed on NaN or Inf, in order."""
        for op in self.bad_ops:
            self._follow(op)
        for tensor in bad:
            readers = facts.consumers(tensor)
            if readers and facts.producer(tensor) < 0:
                self._meet(tensor, readers[0])

    def add(self, source: Source) -> int:
        """Add a source, and return the source's number."""
        self.sources.append(source)
        return len(self.sources) - 1

    def of_op(self, op: int) -> Sources:
        """Return the sources of NaN and of unintended Inf in an op's inputs and outputs."""
        found: list[int] = []
        for tensor in (*self.inputs(op), *self.facts.outputs(op)):
            found.extend(self.nan_of.get(tensor, ()))
            found.extend(self._not_meant(self.inf_of.get(tensor, ())))
        return _merged(found)

    def inputs(self, op: int) -> list[int]:
        """Return the inputs of an op; for a PyLayer, also the results of the ops inside it."""
        facts = self.facts
        if facts.is_pylayer(op):
            return [*facts.inputs(op), *facts.results(op)]
        return facts.inputs(op)

    def _follow(self, op: int) -> None:
        numbers = self.numbers
        read = self.inputs(op)
        for tensor in read:
            self._meet(tensor, op)
        with_nan = (one for one in read if numbers.has_nan(one, op))
        with_inf = (one for one in read if numbers.has_inf(one, op))
        nan_in = _merged(source for one in with_nan for source in self.nan_of.get(one, ()))
        inf_in = _merged(source for one in with_inf for source in self.inf_of.get(one, ()))
        made: Sources = ()
        for tensor in self.facts.outputs(op):
            if numbers.has_nan(tensor):
                sources = nan_in or self._not_meant(inf_in) or made
                if not sources:
                    made = sources = self._begin(op, is_nan=True)
                for source in () if nan_in else map(self.sources.__getitem__, sources):
                    if not source.is_nan and source.became_nan < 0:
                        source.became_nan = op
                self.nan_of[tensor] = sources
            if numbers.has_inf(tensor):
                sources = inf_in or nan_in or self.nan_of.get(tensor, ()) or made
                if not sources:
                    made = sources = self._begin(op, is_nan=False)
                self.inf_of[tensor] = sources

    def _begin(self, op: int, *, is_nan: bool) -> Sources:
        facts = self.facts
        is_written = ("nan" if is_nan else "inf") in _BAD_CONSTANT.findall(facts.attributes(op))
        is_meant = is_written or facts.op_name(op) in _UNINITIALISED
        return (self.add(Source("op", op, is_nan=is_nan, is_meant=is_meant)),)

    def _meet(self, tensor: int, op: int) -> None:
        """Add a source for a bad tensor that no op made."""
        facts, numbers = self.facts, self.numbers
        has_nan, has_inf = numbers.has_nan(tensor, op), numbers.has_inf(tensor, op)
        is_new = (has_nan and tensor not in self.nan_of) or (
            has_inf and tensor not in self.inf_of and tensor not in self.nan_of
        )
        if not is_new:
            return
        shared = numbers.source(tensor)
        if shared != tensor:
            self._meet(shared, op)
        elif facts.producer(tensor) < 0 and facts.previous(tensor) in self.nan_of:
            # The tensor was changed without an op, and already had NaN or Inf before.
            shared = facts.previous(tensor)
        nan_of, inf_of = self.nan_of.get(shared), self.inf_of.get(shared)
        if not (nan_of or inf_of):
            found = numbers.of(tensor, op)
            kind: SourceKind = "gradient" if self._is_gradient(tensor, op) else "outside"
            # A tensor with only Inf and zeros is a mask that is added to attention scores.
            is_mask = found is not None and 0 < found.infs == found.elements - found.zeros
            is_meant = is_mask and not has_nan
            source = Source(kind, op, tensor=tensor, is_nan=has_nan, is_meant=is_meant)
            nan_of = inf_of = (self.add(source),)
        if has_nan:
            self.nan_of[tensor] = nan_of or inf_of or ()
        if has_inf:
            self.inf_of[tensor] = inf_of or nan_of or ()

    def _is_gradient(self, tensor: int, op: int) -> bool:
        facts = self.facts
        if facts.tensor_kind(tensor) == GRADIENT:
            return True
        # ``parameter.grad`` returns an ordinary tensor. Only its shape shows that it is a gradient.
        if facts.tensor_kind(tensor) == PARAMETER or op < self._first_backward:
            return False
        return facts.shape(tensor) in self._parameter_shapes

    def _not_meant(self, sources: Sources) -> Sources:
        return tuple(number for number in sources if not self.sources[number].is_meant)


def is_optimizers(facts: Facts, source: Source) -> bool:
    """Tell whether the source is an op of an optimizer."""
    return source.kind == "op" and facts.phase(source.op) == OPTIMIZER


def is_in_backward(facts: Facts, source: Source) -> bool:
    """Tell whether the source is an op in a backward call: in a PyLayer, or recomputed."""
    return source.kind == "op" and facts.phase(source.op) == BACKWARD


def _merged(sources: Iterable[int]) -> Sources:
    return tuple(sorted(set(sources)))[:_MOST_SOURCES]
