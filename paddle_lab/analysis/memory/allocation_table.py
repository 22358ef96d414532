"""``trace.allocations``: blocks as rows that a person can read, over columns that stay arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.trees import Keys
from paddle_lab.analysis.memory.allocation import Allocation
from paddle_lab.analysis.memory.attribution import Attribution
from paddle_lab.analysis.memory.sizes import size_text, time_text
from paddle_lab.analysis.tables.pandas_frame import pandas_module
from paddle_lab.analysis.tables.text_table import html_table, text_table
from paddle_lab.trace.schema import ALLOCATION_KINDS, PHASES
from paddle_lab.words import say

if TYPE_CHECKING:
    import pandas

_ROWS_SHOWN = 20
_COLUMNS = ("size", "kind", "what", "layer", "line", "allocated", "freed")


class AllocationTable(Sequence[Allocation]):
    """Blocks of Paddle's allocator: all of a trace by their start, or those of an answer.

    Parameters
    ----------
    attribution
        Whose the blocks are.
    keys
        Which blocks, int32, shape ``[blocks]``; all by default.
    """

    def __init__(self, attribution: Attribution, keys: Keys | None = None) -> None:
        self._attribution = attribution
        count = len(attribution.record.allocations)
        self.keys = np.arange(count, dtype=np.int32) if keys is None else keys
        """Rows in the record's ``allocations``, int32, shape ``[blocks]``."""

    @property
    def total_bytes(self) -> int:
        """The sum of their sizes."""
        return int(self._column("bytes").sum())

    def largest_first(self) -> AllocationTable:
        """Return the same blocks, the largest first."""
        order = np.argsort(-self._column("bytes"), kind="stable")
        return AllocationTable(self._attribution, self.keys[order])

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, index: int) -> Allocation: ...
    @overload
    def __getitem__(self, index: slice) -> AllocationTable: ...
    def __getitem__(self, index: int | slice) -> Allocation | AllocationTable:
        if isinstance(index, slice):
            return AllocationTable(self._attribution, self.keys[index])
        return Allocation(self._attribution, int(self.keys[index]))

    def __iter__(self) -> Iterator[Allocation]:
        return (Allocation(self._attribution, key) for key in self.keys.tolist())

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with one row a block, indexed by allocation key.

        ``start_ns`` is missing for blocks from before the trace, ``end_ns`` for those alive when it
        ended, ``op`` and ``grad_node`` where the block has none.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = pandas_module("trace.allocations.to_pandas()")
        record, attribution = self._attribution.record, self._attribution
        frames = record.frames
        frame = attribution.frames[self.keys]
        tensor = self._column("tensor")
        op = self._column("op")
        names = np.array([*record.strings, ""], dtype=object)

        def optional(values: npt.NDArray[Any]) -> Any:
            return pandas.arrays.IntegerArray(values.astype(np.int64), values < 0)

        def text(table: str, column: str, keys: npt.NDArray[Any]) -> npt.NDArray[Any]:
            codes = np.append(record.tables[table][column], np.array([-1], np.int32))
            named: npt.NDArray[Any] = names[codes[keys]]
            return named

        line = np.take(np.append(frames["line"], np.array([0], np.int32)), frame)
        cell = np.take(np.append(frames["cell"], np.array([-1], np.int32)), frame)
        columns = {
            "address": self._column("address"),
            "bytes": self._column("bytes"),
            "place": np.take(names, self._column("place")),
            "kind": np.take(np.array(ALLOCATION_KINDS, object), self._column("kind")),
            "op": optional(op),
            "op_name": text("ops", "name", op),
            "grad_node": optional(self._column("grad_node")),
            "layer": np.take(
                np.array(attribution.layer_names, object), attribution.layers[self.keys]
            ),
            "tensor": text("tensors", "name", tensor),
            "path": text("tensors", "path", tensor),
            "shape": text("tensors", "shape", tensor),
            "dtype": text("tensors", "dtype", tensor),
            "file": text("frames", "file", frame),
            "line": line,
            "function": text("frames", "function", frame),
            "cell": optional(cell),
            "phase": np.where(
                self._column("start_ns") < 0,
                "",
                np.take(np.array(PHASES, object), self._column("phase")),
            ),
            "start_ns": optional(self._column("start_ns")),
            "end_ns": optional(self._column("end_ns")),
            "thread": self._column("thread"),
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.keys, name="allocation"))

    def _column(self, name: str) -> npt.NDArray[Any]:
        return self._attribution.record.allocations[name][self.keys]

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                size_text(block.bytes),
                say(f"page.memory_kind.{block.kind}"),
                block.label,
                block.layer,
                block.where,
                say("memory.before") if block.start_ns is None else time_text(block.start_ns),
                "–" if block.end_ns is None else time_text(block.end_ns),
            )
            for block in self[:_ROWS_SHOWN]
        ]

    def _title(self) -> str:
        return say("memory.allocations", n=len(self), size=size_text(self.total_bytes))

    def __repr__(self) -> str:
        if not len(self):
            return say("memory.no_allocations")
        parts = [self._title(), text_table(_header(), self._rows(), numbers=(0,))]
        if len(self) > _ROWS_SHOWN:
            parts.append(say("memory.more", n=len(self) - _ROWS_SHOWN))
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        more = len(self) - _ROWS_SHOWN
        note = f"<p>{say('memory.more', n=more)}</p>" if more > 0 else ""
        return f"<p>{self._title()}</p>{html_table(_header(), self._rows(), numbers=(0,))}{note}"


def _header() -> list[str]:
    return [say(f"memory.column.{name}") for name in _COLUMNS]
