"""Facts about tensors: kind, shape, the op that made a tensor, and the ops that read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from paddle_lab.analysis.findings.facts.ops import Entry, OpFacts, column, rows, text_column
from paddle_lab.analysis.tables.tensors import parse_shape
from paddle_lab.trace.schema import TENSOR_KINDS
from paddle_lab.trace.trees import Keys, outermost, rows_by, walk

ACTIVATION, PARAMETER, BUFFER, GRADIENT, EXTERNAL = range(len(TENSOR_KINDS))


class TensorFacts(OpFacts):
    """Tensors by key, which is the row in ``tensors``: one row for each value of a tensor."""

    tensor_kind = column("tensors", "kind")
    """:data:`ACTIVATION`, :data:`PARAMETER`, …."""
    dtype = text_column("tensors", "dtype")
    tensor_name = text_column("tensors", "name")
    path = text_column("tensors", "path")
    """The path of a parameter in its model, ``""`` if there is none."""
    producer = column("tensors", "producer")
    """The op that made a tensor's value, -1 for data and other values that no op made."""
    version = column("tensors", "version")
    """The inplace version of the tensor's storage when the tensor had this value."""
    consumers = rows("uses", "tensor", "op", of="tensors", role="input")
    """The ops that read a tensor's value, in order."""
    previous = column("tensors", "previous")
    """The same tensor before its last modification in place, -1 for none."""
    detached_from = column("tensors", "detached_from")
    """The tensor whose memory a detached one shares, -1 for none."""
    copies = rows("tensors", "detached_from", of="tensors")
    """The tensors that were detached from a tensor: they have its values, but no graph."""

    @cached_property
    def needs_grad(self) -> Callable[[int], bool]:
        """Whether a tensor needs a gradient: ``not stop_gradient``."""
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
        """For each tensor: the row of its first value, before modifications in place."""
        previous = self.record.tensors["previous"]
        return outermost(previous)

    @cached_property
    def first_value(self) -> Entry:
        """The row of a tensor's first value, before any modification in place."""
        first: list[int] = self.first_values.tolist()
        return first.__getitem__

    @cached_property
    def fed_ops(self) -> frozenset[int]:
        """The ops that compute from parameters, possibly through detached tensors."""
        parameters = np.flatnonzero(self.record.tensors["kind"] == PARAMETER).tolist()
        readers = (op for tensor in parameters for op in self.consumers(tensor) if op >= 0)
        edges = self.record.op_edges
        return frozenset(walk(readers, rows_by(edges["source"], edges["target"], self.op_count)))

    def before(self, tensor: int) -> Iterator[int]:
        """Yield a tensor and those that it was computed from, up to parameters."""
        return walk([tensor], self.inputs_before)

    def inputs_before(self, tensor: int) -> list[int]:
        """Return the tensors that a tensor was computed from; none for a parameter."""
        is_made = self.tensor_kind(tensor) != PARAMETER
        return list(self.inputs(self.producer(tensor))) if is_made else []

    @cached_property
    def living(self) -> frozenset[int]:
        """The tensors that were alive when the trace ended."""
        return frozenset(self.record.living_tensors["tensor"].tolist())

    def factor(self, op: int) -> float:
        """Return the constant by which an op multiplies its input; 1 for another op."""
        name, text = self.op_name(op).rstrip("_"), self.attributes(op)
        if name == "scale" and ", bias=0.0," in text:  # scale=0.5, bias=0.0, bias_after_scale=True
            return float(text[6:].partition(",")[0])
        try:
            number = float(text)
        except ValueError:
            return 1.0
        return 1 / number if name == "divide" and number else number if name == "multiply" else 1.0
