"""``trace.allocations``: the blocks of Paddle's allocator as rows and as a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.memory.attribution import Attribution
from paddle_lab.analysis.memory.sizes import size_text, time_text
from paddle_lab.analysis.source.stacks import Frame, Placed, stack_of
from paddle_lab.analysis.tables import cells
from paddle_lab.analysis.tables.columns import Values, optional
from paddle_lab.analysis.tables.data_frames import Framed
from paddle_lab.analysis.tables.ops import Op
from paddle_lab.analysis.tables.rows import RecordRow, RowTable
from paddle_lab.analysis.tables.tensors import Tensor
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, Reported, header
from paddle_lab.trace.schema import ALLOCATION_KINDS, PHASES
from paddle_lab.trace.trees import Keys, taken
from paddle_lab.words import say


class Allocation(RecordRow, Placed):
    """A block of memory. It reads its data from a row of the table."""

    __slots__ = ("_attribution",)
    _table_name = "allocations"

    def __init__(self, attribution: Attribution, key: int) -> None:
        super().__init__(attribution.record, key)
        self._attribution = attribution

    address = cells.number(doc="Where it begins.")
    bytes = cells.number(doc="Its size.")
    place = cells.text(doc='``"cpu"``, ``"gpu:0"``.')
    kind = cells.choice(
        ALLOCATION_KINDS,
        doc='One of :data:`paddle_lab.trace.schema.ALLOCATION_KINDS`: ``"saved_activation"``.',
    )
    start_ns = cells.optional(
        doc="From the beginning of the trace to its allocation; None: allocated before the trace."
    )
    end_ns = cells.optional(
        doc="From the beginning of the trace to its release; None: alive when the trace ended."
    )
    grad_node = cells.optional(doc="Key of the grad node whose backward allocated it.")
    thread = cells.number(doc="Number of the thread that allocated it.")

    @property
    def phase(self) -> str:
        """``"forward"``, ``"backward"`` or ``"optimizer"``; ``""`` for an older block."""
        return PHASES[self._cell("phase")] if self.start_ns is not None else ""

    @property
    def op(self) -> Op | None:
        """The op that allocated the block. In backward, the op whose grad node allocated it."""
        op = self._cell("op")
        return self._attribution.ops[op] if op >= 0 else None

    @property
    def tensor(self) -> Tensor | None:
        """The first tensor that used the block as its storage; None if no tensor did."""
        tensor = self._cell("tensor")
        return Tensor(self._record, tensor) if tensor >= 0 else None

    @property
    def layer(self) -> str:
        """The path of the layer that owns or allocated the block, ``""`` outside of layers."""
        return self._record.text(int(self._attribution.layers[self.key]))

    @property
    def stack(self) -> list[Frame]:
        """The Python frames that allocated the block, the innermost first."""
        stack = self._cell("stack")
        if stack < 0:
            return self.op.stack if self.op else []
        return stack_of(self._record, stack)

    @property
    def frame(self) -> Frame | None:
        """The innermost frame of the user's code, otherwise of another library; None if unknown."""
        frame = int(self._attribution.frames[self.key])
        return Frame(self._record, frame) if frame >= 0 else None

    @property
    def label(self) -> str:
        """A readable name: a parameter's path, or the op's name, or ``""``."""
        tensor, op = self.tensor, self.op
        if tensor is not None and tensor.path:
            return tensor.path
        if op is not None:
            return f"{op.name}, backward" if self.grad_node is not None else op.name
        return tensor.name if tensor is not None else ""

    def __repr__(self) -> str:
        parts = [size_text(self.bytes), self.kind, self.label, self.layer, self.where]
        return f"<Allocation {self.key}: {', '.join(part for part in parts if part)}>"


class AllocationTable(Reported, Framed, RowTable[Allocation]):
    """Blocks of Paddle's allocator: all blocks of a trace by their start, or a selection.

    Values may be missing in a data frame: ``start_ns`` for blocks from before the trace, ``end_ns``
    for blocks that were alive when it ended, ``op`` and ``grad_node`` for blocks without them.

    Parameters
    ----------
    attribution
        The owners of the blocks.
    keys
        The keys of the blocks, int32, shape ``[blocks]``; all by default.
    """

    _table_name = "allocations"
    _index = "allocation"

    def __init__(self, attribution: Attribution, keys: Keys | None = None) -> None:
        super().__init__(attribution.record, keys)
        self._attribution = attribution

    def _row(self, key: int) -> Allocation:
        return Allocation(self._attribution, key)

    def _with_keys(self, keys: Keys) -> AllocationTable:
        return AllocationTable(self._attribution, keys)

    @property
    def total_bytes(self) -> int:
        """The sum of the blocks' sizes."""
        return int(self._column("bytes").sum())

    def largest_first(self) -> AllocationTable:
        """Return the same blocks, the largest first."""
        order = np.argsort(-self._column("bytes"), kind="stable")
        return AllocationTable(self._attribution, self.keys[order])

    def bytes_by_name(
        self, name: Callable[[Allocation], str], block_count: int
    ) -> list[tuple[str, int]]:
        """Return names of blocks with the sum of their bytes, the most bytes first.

        Parameters
        ----------
        name
            Returns the name of a block, ``""`` if it has none.
        block_count
            How many blocks count, from the start of the table.
        """
        sizes: dict[str, int] = {}
        for block in self[:block_count]:
            if named := name(block):
                sizes[named] = sizes.get(named, 0) + block.bytes
        return sorted(sizes.items(), key=lambda item: -item[1])

    def _column(self, name: str) -> npt.NDArray[Any]:
        column: npt.NDArray[Any] = self.record.allocations[name][self.keys]
        return column

    def columns(self) -> dict[str, Values]:
        """Return the blocks' properties as columns.

        This does not make an object for each block, which would take a minute for a million blocks.
        """
        record = self.record
        strings = np.array([*record.strings, ""], object)
        op, tensor = self._column("op"), self._column("tensor")
        frame = self._attribution.frames[self.keys]
        phases = np.array([*PHASES, ""], object)
        start_ns = self._column("start_ns")
        return {
            "address": self._column("address"),
            "bytes": self._column("bytes"),
            "place": strings[self._column("place")],
            "kind": np.array(ALLOCATION_KINDS, object)[self._column("kind")],
            "op": optional(op),
            "op_name": strings[taken(record.ops["name"], op)],
            "grad_node": optional(self._column("grad_node")),
            "layer": strings[self._attribution.layers[self.keys]],
            "tensor": strings[taken(record.tensors["name"], tensor)],
            "path": strings[taken(record.tensors["path"], tensor)],
            "shape": strings[taken(record.tensors["shape"], tensor)],
            "dtype": strings[taken(record.tensors["dtype"], tensor)],
            "file": strings[taken(record.frames["file"], frame)],
            "line": np.maximum(taken(record.frames["line"], frame), 0),
            "function": strings[taken(record.frames["function"], frame)],
            "cell": optional(taken(record.frames["cell"], frame)),
            "phase": phases[np.where(start_ns < 0, len(PHASES), self._column("phase"))],
            "start_ns": optional(start_ns),
            "end_ns": optional(self._column("end_ns")),
            "thread": self._column("thread"),
        }

    def _columns(self) -> dict[str, Values]:
        return {"allocation": self.keys, **self.columns()}

    def _report(self) -> Report:
        if not len(self):
            return Report(say("memory.no_allocations"))
        rows = [
            (
                size_text(block.bytes),
                say(f"page.memory_kind.{block.kind}"),
                block.label,
                block.layer,
                block.where,
                say("memory.before") if block.start_ns is None else time_text(block.start_ns),
                "–" if block.end_ns is None else time_text(block.end_ns),
            )
            for block in self[:ROWS_SHOWN]
        ]
        title = say("memory.allocations", n=len(self), size=size_text(self.total_bytes))
        names = header("memory", "size", "kind", "what", "layer", "line", "allocated", "freed")
        return Report(title, names, rows, numbers=(0,), row_count=len(self))
