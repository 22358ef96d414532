"""``trace.tensors`` and an op's inputs and outputs: tensor values as rows that one can read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import overload

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import TENSOR_KINDS

_EXTENT = re.compile(r"-?\d{1,18}")


class Tensor:
    """One value of a tensor: a view of its row."""

    __slots__ = ("_record", "key")

    def __init__(self, record: Record, key: int) -> None:
        self._record = record
        self.key = key
        """Row in the record's ``tensors``."""

    @property
    def name(self) -> str:
        """Paddle's name: ``"linear_0.w_0"``, ``""`` where it had none."""
        return self._text("name")

    @property
    def path(self) -> str:
        """Path of a layer's parameter or buffer, ``""`` for other tensors."""
        return self._text("path")

    @property
    def dtype(self) -> str:
        """``"float32"``."""
        return self._text("dtype")

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents, outermost first."""
        return parse_shape(self._text("shape"))

    @property
    def place(self) -> str:
        """``"cpu"``, ``"gpu:0"``."""
        return self._text("place")

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient flows to it."""
        return bool(self._cell("stop_gradient"))

    @property
    def bytes(self) -> int:
        """Size of its elements."""
        return self._cell("bytes")

    @property
    def version(self) -> int:
        """How often it had been modified in place."""
        return self._cell("version")

    @property
    def kind(self) -> str:
        """``"activation"``, ``"parameter"``, ``"buffer"``, ``"gradient"`` or ``"external"``."""
        return TENSOR_KINDS[self._cell("kind")]

    @property
    def producer(self) -> int | None:
        """Key of the op that made this value; None where the trace saw no op make it."""
        producer = self._cell("producer")
        return producer if producer >= 0 else None

    def _cell(self, column: str) -> int:
        return int(self._record.tensors[column][self.key])

    def _text(self, column: str) -> str:
        return self._record.text(self._cell(column))

    def __str__(self) -> str:
        label = self.path or self.name
        return f"{label} {self.dtype} {list(self.shape)}".strip()

    def __repr__(self) -> str:
        return f"<Tensor {self.key}: {self}, {self.kind}>"


class TensorTable(Sequence[Tensor]):
    """The tensor values of a trace, in the order in which it met them."""

    def __init__(self, record: Record, keys: range | None = None) -> None:
        self._record = record
        self._keys = range(len(record.tensors)) if keys is None else keys

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> Tensor: ...
    @overload
    def __getitem__(self, index: slice) -> TensorTable: ...
    def __getitem__(self, index: int | slice) -> Tensor | TensorTable:
        if isinstance(index, slice):
            return TensorTable(self._record, self._keys[index])
        return Tensor(self._record, self._keys[index])

    def __repr__(self) -> str:
        return f"<{len(self):,} tensors>"


def parse_shape(text: str) -> tuple[int, ...]:
    """Return the extents in a shape's text: ``(4, 2, 3)`` for ``"[4, 2, 3]"``."""
    return tuple(int(extent) for extent in _EXTENT.findall(text))
