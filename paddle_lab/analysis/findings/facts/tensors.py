"""What a record says of tensors: kind, shape, who made them and who read them."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts.columns import RecordColumns, Slices
from paddle_lab.analysis.graph.trees import Keys, csr, nearest_marked
from paddle_lab.trace.schema import ROLES, TENSOR_KINDS

ACTIVATION, PARAMETER, BUFFER, GRADIENT, EXTERNAL = range(len(TENSOR_KINDS))
_INPUT = ROLES.index("input")


class TensorFacts(RecordColumns):
    """Tensors by key: the row in ``tensors``, one for each value that a tensor had."""

    def consumers(self, tensor: int) -> list[int]:
        """Return the ops that read a tensor's value, in order."""
        starts, ops = self._consumers
        return ops[starts[tensor] : starts[tensor + 1]]

    @cached_property
    def _consumers(self) -> Slices:
        uses = self.record.uses
        is_read = uses["role"] == _INPUT
        starts, order = csr(uses["tensor"][is_read], len(self.record.tensors))
        return starts.tolist(), uses["op"][is_read][order].tolist()

    def producer(self, tensor: int) -> int:
        """Return the op that made a tensor's value, -1 for data and what no op made."""
        return self._producers[tensor]

    @cached_property
    def _producers(self) -> list[int]:
        return self.column("tensors", "producer")

    def tensor_kind(self, tensor: int) -> int:
        """Return :data:`ACTIVATION`, :data:`PARAMETER`, …."""
        return self.column("tensors", "kind")[tensor]

    def needs_grad(self, tensor: int) -> bool:
        """Tell whether gradients are to reach a tensor: ``not stop_gradient``."""
        return not self._is_constant[tensor]

    @cached_property
    def _is_constant(self) -> list[int]:
        return self.column("tensors", "stop_gradient")

    def shape(self, tensor: int) -> tuple[int, ...]:
        """Return a tensor's shape."""
        return shape_of(self.record.text(self.column("tensors", "shape")[tensor]))

    def dtype(self, tensor: int) -> str:
        """Return a tensor's dtype: ``"float32"``."""
        return self.record.text(self.column("tensors", "dtype")[tensor])

    def path(self, tensor: int) -> str:
        """Return a parameter's path in its model, ``""`` where it has none."""
        return self.record.text(int(self.record.tensors["path"][tensor]))

    def first_value(self, tensor: int) -> int:
        """Return the tensor's value before it was first modified in place."""
        return self._first_values[tensor]

    def first_values(self, tensors: npt.NDArray[Any]) -> Keys:
        """Return each tensor's value before it was first modified in place."""
        first: Keys = self._first_rows[tensors]
        return first

    @cached_property
    def _first_rows(self) -> Keys:
        previous = self.record.tensors["previous"]
        return nearest_marked(previous, previous < 0)

    @cached_property
    def _first_values(self) -> list[int]:
        first: list[int] = self._first_rows.tolist()
        return first

    def is_parameter_fed(self, tensor: int) -> bool:
        """Tell whether a tensor is a parameter, or was computed from any."""
        if self.tensor_kind(tensor) == PARAMETER:
            return True
        producer = self.producer(tensor)
        return producer >= 0 and bool(self._fed_ops[producer])

    @cached_property
    def _fed_ops(self) -> npt.NDArray[np.bool_]:
        record = self.record
        uses, edges = record.uses, record.op_edges
        reads = (uses["role"] == _INPUT) & (uses["tensor"] >= 0) & (uses["op"] >= 0)
        is_parameter = record.tensors["kind"][uses["tensor"][reads]] == PARAMETER
        fed = bytearray(self.op_count)
        for op in uses["op"][reads][is_parameter].tolist():
            fed[op] = 1
        # An op reads what ops before it made.
        source, target = edges["source"], edges["target"]
        forward = np.flatnonzero(source < target)
        forward = forward[np.argsort(target[forward], kind="stable")]
        for before, op in zip(source[forward].tolist(), target[forward].tolist(), strict=True):
            if fed[before]:
                fed[op] = 1
        return np.frombuffer(fed, np.uint8).astype(np.bool_)

    @cached_property
    def living(self) -> frozenset[int]:
        """The tensors that were alive when the trace ended."""
        return frozenset(self.record.living_tensors["tensor"].tolist())


@lru_cache(maxsize=4096)
def shape_of(text: str) -> tuple[int, ...]:
    """Return the shape that a record writes as ``"[4, 2]"``."""
    return tuple(int(size) for size in text.strip("[]").split(",") if size.strip())
