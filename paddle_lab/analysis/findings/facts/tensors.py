"""What a record says of tensors: kind, shape, who made them and who read them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from paddle_lab.analysis.findings.facts.columns import Entry, column, rows, text_column
from paddle_lab.analysis.findings.facts.ops import OpFacts
from paddle_lab.analysis.graph.trees import Keys, nearest_marked
from paddle_lab.analysis.tables.tensors import parse_shape
from paddle_lab.trace.schema import ROLES, TENSOR_KINDS

ACTIVATION, PARAMETER, BUFFER, GRADIENT, EXTERNAL = range(len(TENSOR_KINDS))
_INPUT = ROLES.index("input")


class TensorFacts(OpFacts):
    """Tensors by key: the row in ``tensors``, one for each value that a tensor had."""

    tensor_kind = column("tensors", "kind")
    """:data:`ACTIVATION`, :data:`PARAMETER`, …."""
    dtype = text_column("tensors", "dtype")
    tensor_name = text_column("tensors", "name")
    path = text_column("tensors", "path")
    """A parameter's path in its model, ``""`` where it has none."""
    producer = column("tensors", "producer")
    """The op that made a tensor's value, -1 for data and what no op made."""
    version = column("tensors", "version")
    """Paddle's count of the changes of a tensor's storage when it had this value."""
    consumers = rows("uses", "tensor", "op", of="tensors", role="input")
    """The ops that read a tensor's value, in order."""
    previous = column("tensors", "previous")
    """The same tensor before it was modified in place, -1 for none."""
    detached_from = column("tensors", "detached_from")
    """The tensor whose values a detached one shares, -1 for none."""
    copies = rows("tensors", "detached_from", of="tensors")
    """The tensors that were detached from one: they hold its values without its graph."""

    @cached_property
    def needs_grad(self) -> Callable[[int], bool]:
        """Whether gradients are to reach a tensor: ``not stop_gradient``."""
        needs: list[bool] = (self.record.tensors["stop_gradient"] == 0).tolist()
        return needs.__getitem__

    @cached_property
    def shape(self) -> Callable[[int], tuple[int, ...]]:
        """A tensor's shape."""
        codes = self.record.tensors["shape"].tolist()
        shapes = {code: parse_shape(self.record.text(code)) for code in set(codes)}
        return [shapes[code] for code in codes].__getitem__

    @cached_property
    def first_values(self) -> Keys:
        """The value of each tensor before it was first modified in place, shape ``[tensors]``."""
        previous = self.record.tensors["previous"]
        return nearest_marked(previous, previous < 0)

    @cached_property
    def first_value(self) -> Entry:
        """A tensor's value before it was first modified in place."""
        first: list[int] = self.first_values.tolist()
        return first.__getitem__

    @cached_property
    def is_fed_op(self) -> Entry:
        """Whether an op computes from parameters, possibly through detached tensors."""
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
