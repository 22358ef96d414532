"""One op as a row that a person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_lab.analysis.source.stacks import Frame, stack_of
from paddle_lab.analysis.tables.placed import Placed
from paddle_lab.analysis.tables.tensors import Tensor
from paddle_lab.trace.schema import PHASES, ROLES

if TYPE_CHECKING:
    from paddle_lab.analysis.tables.op_table import OpTable

_INPUT, _OUTPUT = ROLES.index("input"), ROLES.index("output")


class Op(Placed):
    """One op that was called: a view of its row."""

    __slots__ = ("_table", "key")

    def __init__(self, table: OpTable, key: int) -> None:
        self._table = table
        self.key = key
        """Position in the order in which the ops were called."""

    @property
    def name(self) -> str:
        """Paddle's name of the op: ``"matmul"``."""
        return self._text("name")

    @property
    def layer(self) -> str:
        """Path of the innermost layer whose call it is part of, ``""`` outside layers."""
        return self._table.layer_text(self.key, "path")

    @property
    def layer_class(self) -> str:
        """Class of that layer: ``"Linear"``."""
        return self._table.layer_text(self.key, "class")

    @property
    def region(self) -> str | None:
        """Name of the innermost region, None outside regions."""
        scope = int(self._table.region_scopes[self.key])
        record = self._table.record
        return record.text(int(record.scopes["name"][scope])) if scope >= 0 else None

    @property
    def phase(self) -> str:
        """``"forward"``, ``"backward"`` or ``"optimizer"``."""
        return PHASES[self._cell("phase")]

    @property
    def stack(self) -> list[Frame]:
        """The Python frames that called it, innermost first."""
        return stack_of(self._table.record, self._cell("stack"))

    @property
    def frame(self) -> Frame | None:
        """The innermost frame of the user's own code, if any frame is known at all."""
        record = self._table.record
        stack = self._cell("stack")
        frame = int(record.tables["stack_frames"]["frame"][stack]) if stack >= 0 else -1
        return Frame(record, frame) if frame >= 0 else None

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors it was given, in order."""
        return self._table.tensors_of(self.key, _INPUT)

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors it made or modified, in order."""
        return self._table.tensors_of(self.key, _OUTPUT)

    @property
    def grad_nodes(self) -> list[int]:
        """Keys of the grad nodes it made."""
        starts, nodes = self._table.grad_nodes
        return [int(node) for node in nodes[starts[self.key] : starts[self.key + 1]]]

    @property
    def start_ns(self) -> int:
        """Host time from the beginning of the trace to the call."""
        return self._cell("start_ns")

    @property
    def duration_ns(self) -> int:
        """Host time of the call; on a GPU the kernel may still have been running after it."""
        return self._cell("duration_ns")

    @property
    def thread(self) -> int:
        """Number of the thread that called it; 0 is the first one that called an op."""
        return self._cell("thread")

    @property
    def attributes(self) -> str:
        """The call's arguments that are no tensors: ``"strides=[2, 2], groups=1"``.

        Names are Paddle's own; a value of an op that it declares nowhere stands alone.
        """
        return self._text("attributes")

    @property
    def is_pylayer(self) -> bool:
        """Whether it is a whole ``PyLayer.apply``."""
        return bool(self._cell("is_pylayer"))

    @property
    def raised(self) -> bool:
        """Whether the call raised an exception."""
        return bool(self._cell("raised"))

    def _cell(self, column: str) -> int:
        return int(self._table.record.ops[column][self.key])

    def _text(self, column: str) -> str:
        return self._table.record.text(self._cell(column))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Op):
            return NotImplemented
        return self.key == other.key and self._table.record is other._table.record

    def __hash__(self) -> int:
        return hash((self.key, id(self._table.record)))

    def __repr__(self) -> str:
        where = f" in {self.layer}" if self.layer else ""
        shapes = ", ".join(str(list(tensor.shape)) for tensor in self.outputs)
        return f"<Op {self.key}: {self.name}{where} → {shapes}, {self.where}>"
