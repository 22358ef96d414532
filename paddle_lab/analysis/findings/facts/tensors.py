"""What a record says of tensors: kind, shape, who made them and who read them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts.columns import Entry, RecordColumns, Rows, rows_by
from paddle_lab.analysis.graph.trees import Keys, nearest_marked
from paddle_lab.trace.schema import ROLES, TENSOR_KINDS

ACTIVATION, PARAMETER, BUFFER, GRADIENT, EXTERNAL = range(len(TENSOR_KINDS))
_INPUT = ROLES.index("input")


class TensorFacts(RecordColumns):
    """Tensors by key: the row in ``tensors``, one for each value that a tensor had."""

    @cached_property
    def consumers(self) -> Rows:
        """The ops that read a tensor's value, in order."""
        uses = self.record.uses
        is_read = uses["role"] == _INPUT
        return rows_by(uses["tensor"][is_read], uses["op"][is_read], len(self.record.tensors))

    @cached_property
    def producer(self) -> Entry:
        """The op that made a tensor's value, -1 for data and what no op made."""
        return self.entry("tensors", "producer")

    @cached_property
    def tensor_kind(self) -> Entry:
        """Whether a tensor is an :data:`ACTIVATION`, a :data:`PARAMETER`, …."""
        return self.entry("tensors", "kind")

    @cached_property
    def needs_grad(self) -> Callable[[int], bool]:
        """Whether gradients are to reach a tensor: ``not stop_gradient``."""
        needs: list[bool] = (self.record.tensors["stop_gradient"] == 0).tolist()
        return needs.__getitem__

    @cached_property
    def previous(self) -> Entry:
        """The same tensor before it was modified in place, -1 for none."""
        return self.entry("tensors", "previous")

    @cached_property
    def detached_from(self) -> Entry:
        """The tensor whose values a detached one shares, -1 for none."""
        return self.entry("tensors", "detached_from")

    @cached_property
    def copies(self) -> Rows:
        """The tensors that were detached from one: they hold its values without its graph."""
        sources = self.record.tensors["detached_from"]
        return rows_by(sources, np.arange(len(sources)), len(sources))

    def shape(self, tensor: int) -> tuple[int, ...]:
        """Return a tensor's shape."""
        return shape_of(self._shape(tensor))

    @cached_property
    def _shape(self) -> Callable[[int], str]:
        return self.text_entry("tensors", "shape")

    @cached_property
    def dtype(self) -> Callable[[int], str]:
        """A tensor's dtype: ``"float32"``."""
        return self.text_entry("tensors", "dtype")

    @cached_property
    def path(self) -> Callable[[int], str]:
        """A parameter's path in its model, ``""`` where it has none."""
        return self.text_entry("tensors", "path")

    @cached_property
    def first_value(self) -> Entry:
        """The tensor's value before it was first modified in place."""
        first: list[int] = self._first_values.tolist()
        return first.__getitem__

    def first_values(self, tensors: npt.NDArray[Any]) -> Keys:
        """Return each tensor's value before it was first modified in place."""
        first: Keys = self._first_values[tensors]
        return first

    @cached_property
    def _first_values(self) -> Keys:
        previous = self.record.tensors["previous"]
        return nearest_marked(previous, previous < 0)

    def is_parameter_fed(self, tensor: int) -> bool:
        """Tell whether a tensor is a parameter, or was computed from any."""
        if self.tensor_kind(tensor) == PARAMETER:
            return True
        producer = self.producer(tensor)
        return producer >= 0 and self.is_fed_op(producer) > 0

    @cached_property
    def is_fed_op(self) -> Entry:
        """Whether an op computes from parameters, be it through detached tensors."""
        record = self.record
        uses, edges = record.uses, record.op_edges
        reads = (uses["role"] == _INPUT) & (uses["tensor"] >= 0) & (uses["op"] >= 0)
        is_parameter = record.tensors["kind"][uses["tensor"][reads]] == PARAMETER
        fed = bytearray(len(record.ops))
        for op in uses["op"][reads][is_parameter].tolist():
            fed[op] = 1
        # An op reads what ops before it made.
        source, target = edges["source"], edges["target"]
        forward = np.flatnonzero(source < target)
        forward = forward[np.argsort(target[forward], kind="stable")]
        for before, op in zip(source[forward].tolist(), target[forward].tolist(), strict=True):
            if fed[before]:
                fed[op] = 1
        return fed.__getitem__

    @cached_property
    def living(self) -> frozenset[int]:
        """The tensors that were alive when the trace ended."""
        return frozenset(self.record.living_tensors["tensor"].tolist())


@lru_cache(maxsize=4096)
def shape_of(text: str) -> tuple[int, ...]:
    """Return the shape that a record writes as ``"[4, 2]"``."""
    return tuple(int(size) for size in text.strip("[]").split(",") if size.strip())
