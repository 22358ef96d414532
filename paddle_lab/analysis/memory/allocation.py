"""One block of Paddle's allocator as a row that a person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.analysis.source.stacks import Frame, stack_of
from paddle_lab.analysis.tables.op import Op
from paddle_lab.analysis.tables.placed import Placed
from paddle_lab.analysis.tables.tensors import Tensor
from paddle_lab.trace.schema import ALLOCATION_KINDS, PHASES

if TYPE_CHECKING:
    from paddle_lab.analysis.memory.attribution import Attribution


class Allocation(Placed):
    """One block: a view of its row."""

    __slots__ = ("_attribution", "key")

    def __init__(self, attribution: Attribution, key: int) -> None:
        self._attribution = attribution
        self.key = key
        """Row in the record's ``allocations``."""

    @property
    def address(self) -> int:
        """Where it begins."""
        return self._cell("address")

    @property
    def bytes(self) -> int:
        """Its size."""
        return self._cell("bytes")

    @property
    def place(self) -> str:
        """``"cpu"``, ``"gpu:0"``."""
        return self._attribution.record.text(self._cell("place"))

    @property
    def kind(self) -> str:
        """One of :data:`paddle_lab.trace.schema.ALLOCATION_KINDS`: ``"saved_activation"``."""
        return ALLOCATION_KINDS[self._cell("kind")]

    @property
    def phase(self) -> str:
        """``"forward"``, ``"backward"`` or ``"optimizer"``; ``""`` for blocks from before."""
        return PHASES[self._cell("phase")] if self.start_ns is not None else ""

    @property
    def start_ns(self) -> int | None:
        """From the beginning of the trace to its allocation; None: allocated before the trace."""
        start_ns = self._cell("start_ns")
        return start_ns if start_ns >= 0 else None

    @property
    def end_ns(self) -> int | None:
        """From the beginning of the trace to its release; None: alive when the trace ended."""
        end_ns = self._cell("end_ns")
        return end_ns if end_ns >= 0 else None

    @property
    def op(self) -> Op | None:
        """The op that allocated it; inside backward, the forward op that made the grad node."""
        op = self._cell("op")
        return self._attribution.ops[op] if op >= 0 else None

    @property
    def grad_node(self) -> int | None:
        """Key of the grad node whose backward allocated it."""
        grad_node = self._cell("grad_node")
        return grad_node if grad_node >= 0 else None

    @property
    def tensor(self) -> Tensor | None:
        """The tensor whose storage it was first; None for memory that never was a tensor's."""
        tensor = self._cell("tensor")
        return Tensor(self._attribution.record, tensor) if tensor >= 0 else None

    @property
    def layer(self) -> str:
        """Path of the layer that allocated or owns it, ``""`` outside layers."""
        return self._attribution.layer_names[int(self._attribution.layers[self.key])]

    @property
    def stack(self) -> list[Frame]:
        """The Python frames that allocated it, innermost first."""
        stack = self._cell("stack")
        if stack < 0:
            return self.op.stack if self.op else []
        return stack_of(self._attribution.record, stack)

    @property
    def frame(self) -> Frame | None:
        """The innermost frame of the user's own code, if any frame is known at all."""
        frame = int(self._attribution.frames[self.key])
        return Frame(self._attribution.record, frame) if frame >= 0 else None

    @property
    def thread(self) -> int:
        """Number of the thread that allocated it."""
        return self._cell("thread")

    @property
    def label(self) -> str:
        """What it is to a person: its parameter's path, its op's name, ``""`` if neither."""
        tensor, op = self.tensor, self.op
        if tensor is not None and tensor.path:
            return tensor.path
        if op is not None:
            return f"{op.name}, backward" if self.grad_node is not None else op.name
        return tensor.name if tensor is not None else ""

    def _cell(self, column: str) -> int:
        return int(self._attribution.record.allocations[column][self.key])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Allocation):
            return NotImplemented
        same_record = self._attribution.record is other._attribution.record
        return self.key == other.key and same_record

    def __hash__(self) -> int:
        return hash((self.key, id(self._attribution.record)))

    def __repr__(self) -> str:
        parts = [size_text(self.bytes), self.kind, self.label, self.layer, self.where]
        return f"<Allocation {self.key}: {', '.join(part for part in parts if part)}>"
