"""``trace.ops``: the ops as rows that a person can read, over columns that stay arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, overload

import numpy as np

from paddle_lab.analysis.graph.pairing import grad_nodes_of_ops
from paddle_lab.analysis.graph.trees import Keys, csr, nearest_marked
from paddle_lab.analysis.tables.op import Op
from paddle_lab.analysis.tables.pandas_frame import pandas_module
from paddle_lab.analysis.tables.tensors import Tensor
from paddle_lab.analysis.tables.text_table import padded, text_width
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS
from paddle_lab.words import say

if TYPE_CHECKING:
    import pandas

_ROWS_SHOWN = 20


class OpTable(Sequence[Op]):
    """The ops of a trace in the order in which they were called.

    Parameters
    ----------
    record
        A record with answer tables.
    keys
        Which ops, int32, shape ``[ops]``; all by default.
    """

    def __init__(self, record: Record, keys: Keys | None = None) -> None:
        self.record = record
        self._keys = np.arange(len(record.ops), dtype=np.int32) if keys is None else keys

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> Op: ...
    @overload
    def __getitem__(self, index: slice) -> OpTable: ...
    def __getitem__(self, index: int | slice) -> Op | OpTable:
        if isinstance(index, slice):
            return OpTable(self.record, self._keys[index])
        return Op(self, int(self._keys[index]))

    def __iter__(self) -> Iterator[Op]:
        return (Op(self, key) for key in self._keys.tolist())

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with one row an op, indexed by op key.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = pandas_module("trace.ops.to_pandas()")
        rows = [
            {
                "name": op.name,
                "layer": op.layer,
                "layer_class": op.layer_class,
                "phase": op.phase,
                "region": op.region,
                "file": op.file,
                "line": op.line,
                "function": op.function,
                "cell": op.cell,
                "inputs": [str(tensor) for tensor in op.inputs],
                "outputs": [str(tensor) for tensor in op.outputs],
                "attributes": op.attributes,
                "start_ns": op.start_ns,
                "duration_ns": op.duration_ns,
                "thread": op.thread,
                "is_pylayer": op.is_pylayer,
                "raised": op.raised,
                "grad_nodes": op.grad_nodes,
            }
            for op in self
        ]
        return pandas.DataFrame(rows, index=pandas.Index(self._keys, name="op"))

    @cached_property
    def grad_nodes(self) -> tuple[Keys, Keys]:
        """Grad nodes by op, as from :func:`paddle_lab.analysis.graph.pairing.grad_nodes_of_ops`."""
        return grad_nodes_of_ops(self.record)

    @cached_property
    def region_scopes(self) -> Keys:
        """Scope of each op's innermost region, int32, shape ``[all ops]``; -1 outside regions."""
        return innermost_scopes(self.record, "region")

    @cached_property
    def _layer_scopes(self) -> Keys:
        return innermost_scopes(self.record, "layer")

    @cached_property
    def _uses(self) -> tuple[Keys, Keys]:
        return csr(self.record.uses["op"], len(self.record.ops))

    def layer_text(self, op: int, column: str) -> str:
        """Return the path or class of an op's innermost layer."""
        scope = int(self._layer_scopes[op])
        layer = int(self.record.scopes["layer"][scope]) if scope >= 0 else -1
        return self.record.text(int(self.record.layers[column][layer])) if layer >= 0 else ""

    def tensors_of(self, op: int, role: int) -> list[Tensor]:
        """Return an op's tensors of one role, by slot as the record has them."""
        starts, order = self._uses
        uses = self.record.uses
        rows = order[starts[op] : starts[op + 1]].tolist()
        keys = [int(uses["tensor"][row]) for row in rows if uses["role"][row] == role]
        return [Tensor(self.record, key) for key in keys if key >= 0]

    def _lines(self) -> tuple[list[str], list[tuple[str, ...]]]:
        names = ("op", "name", "layer", "output", "line", "host_time")
        header = [say(f"reports.column.{name}") for name in names]
        rows: list[tuple[str, ...]] = [
            (
                str(op.key),
                op.name,
                op.layer,
                ", ".join(str(list(tensor.shape)) for tensor in op.outputs),
                op.where,
                f"{op.duration_ns / 1e3:,.0f} µs",
            )
            for op in self[:_ROWS_SHOWN]
        ]
        return header, rows

    def __repr__(self) -> str:
        header, rows = self._lines()
        cells = [tuple(header), *[tuple(_cut(cell, 36) for cell in row) for row in rows]]
        widths = [max(text_width(row[i]) for row in cells) for i in range(len(header))]
        aligned = [
            "  ".join(padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        if len(self) > _ROWS_SHOWN:
            aligned.append(say("memory.more", n=len(self) - _ROWS_SHOWN))
        return "\n".join([say("page.count.op", n=len(self)), *aligned])

    def _repr_html_(self) -> str:
        header, rows = self._lines()
        head = "".join(f"<th>{escape(title)}</th>" for title in header)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        more = len(self) - _ROWS_SHOWN
        note = f"<p>{say('memory.more', n=more)}</p>" if more > 0 else ""
        count = say("page.count.op", n=len(self))
        return f"<p>{count}</p><table><tr>{head}</tr>{body}</table>{note}"


def innermost_scopes(record: Record, kind: str) -> Keys:
    """Return each op's innermost scope of one kind, int32, shape ``[ops]``; -1 where none."""
    scopes, scope_of_op = record.scopes, record.ops["scope"]
    nearest = nearest_marked(scopes["parent"], scopes["kind"] == SCOPE_KINDS.index(kind))
    return np.take(np.append(nearest, -1).astype(np.int32), scope_of_op)


def _cut(text: str, longest: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"
