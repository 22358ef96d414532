"""Finds the op that made a tensor, and the inputs of this op, while the traced code runs.

While ops run, rows are only appended, which is fast. They are indexed at the next query. If rows
were dropped since the last query, the index is built again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_lab.capture.native import native_twin
from paddle_lab.capture.rows.cells import NO_KEY, OP_CELLS, TENSOR_CELLS, OpCell, TensorCell

if TYPE_CHECKING:
    from paddle_lab.capture.rows.tape import Tape

_INPUT_CELLS, _OUTPUTS, _NAME = OpCell.INPUT_CELLS, OpCell.OUTPUTS, OpCell.NAME
_PRODUCER, _GRAD_NODE = TensorCell.PRODUCER, TensorCell.GRAD_NODE

Upstream = dict[int, tuple[int, int]]
"""Maps the address of an input's grad node to the op that made the node, and to the input."""


@native_twin
class Lineage:
    """Reads single ops and tensors from the recorder's tapes.

    Parameters
    ----------
    ops, tensors
        The tapes: see :attr:`Recorder.ops` and :attr:`TensorPool.rows`.
    """

    def __init__(self, ops: Tape, tensors: Tape) -> None:
        self._ops, self._tensors = ops, tensors
        self._start = -1, -1
        self._indexed = 0, 0
        self._op_rows: dict[int, list[int]] = {}
        self._made_with: dict[int, tuple[int, int]] = {}
        self._rows_at: dict[int, int] = {}

    def inputs(self, op: int) -> list[int]:
        """Return the argument position and the tensor of each input of an op; none for key -1."""
        self._index()
        row = self._op_rows.get(op)
        return row[OP_CELLS:] if row is not None else []

    def name_key(self, op: int) -> int:
        """Return the key of an op's name, -1 for key -1."""
        self._index()
        row = self._op_rows.get(op)
        return row[_NAME] if row is not None else NO_KEY

    def grad_address(self, tensor: int) -> int:
        """Return the address of a tensor's grad node; 0 for leaves and for key -1."""
        self._index()
        return self._made_with.get(tensor, (NO_KEY, 0))[1]

    def row_at(self, address: int) -> int:
        """Return the latest tensor whose grad node has this address, or -1."""
        self._index()
        return self._rows_at.get(address, NO_KEY)

    def maker(self, tensor: int) -> tuple[int, int]:
        """Return the op that made a tensor's grad node, and the tensor that this op returned.

        The node may be older than the tensor: ``x[:]`` returns a new tensor with the grad node of
        its input. The op is -1 for leaves.
        """
        self._index()
        op, address = self._made_with.get(tensor, (NO_KEY, 0))
        while address and op != NO_KEY:
            inputs = self._op_rows[op][OP_CELLS + 1 :: 2] if op in self._op_rows else []
            same = [row for row in inputs if self._made_with.get(row, (0, 0))[1] == address]
            if not same or same[0] >= tensor:
                break
            tensor = same[0]
            op = self._made_with[tensor][0]
        return op, tensor

    def upstream(self, op: int) -> Upstream:
        """Return the grad nodes that get the gradients of an op's inputs."""
        upstream: Upstream = {}
        for tensor in self.inputs(op)[1::2]:
            address = self.grad_address(tensor)
            if address:
                upstream[address] = self.maker(tensor)[0], tensor
        return upstream

    def _index(self) -> None:
        ops, tensors = self._ops, self._tensors
        if self._indexed == (len(ops), len(tensors)) and self._start == (ops.start, tensors.start):
            return
        if self._start != (ops.start, tensors.start):
            self._start = self._indexed = ops.start, tensors.start
            self._op_rows.clear()
            self._made_with.clear()
            self._rows_at.clear()
        at, first_tensor = self._indexed
        end, last_tensor = len(ops), len(tensors)
        cells = ops.to_list(at, end)
        start = 0
        while start < len(cells):
            inputs_end = start + OP_CELLS + cells[start + _INPUT_CELLS]
            self._op_rows[cells[start]] = cells[start:inputs_end]
            start = inputs_end + cells[start + _OUTPUTS]
        cells = tensors.to_list(first_tensor, last_tensor)
        for start in range(0, len(cells), TENSOR_CELLS):
            address = cells[start + _GRAD_NODE]
            if address:
                self._made_with[cells[start]] = cells[start + _PRODUCER], address
                self._rows_at[address] = cells[start]
        self._indexed = end, last_tensor
