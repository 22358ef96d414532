"""``trace.ops``: the ops of a trace as row objects. The columns stay arrays."""

from __future__ import annotations

from functools import cached_property
from itertools import chain

import numpy as np

from paddle_lab.analysis.graph.pairing import grad_nodes_of_ops
from paddle_lab.analysis.graph.scopes import innermost_scopes, layers_of_scopes
from paddle_lab.analysis.source.stacks import Frame, Placed, stack_of
from paddle_lab.analysis.tables import cells
from paddle_lab.analysis.tables.columns import Partial, Values, optional
from paddle_lab.analysis.tables.data_frames import Framed
from paddle_lab.analysis.tables.rows import RecordRow, RowTable
from paddle_lab.analysis.tables.tensors import Tensor, tensor_texts
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, Reported, header
from paddle_lab.trace.schema import PHASES, ROLES
from paddle_lab.trace.trees import Keys, csr, rows_by, taken
from paddle_lab.words import say


class Op(RecordRow, Placed):
    """A call of an op. It reads its data from a row of the table."""

    __slots__ = ("_table",)
    _table_name = "ops"

    def __init__(self, table: OpTable, key: int) -> None:
        super().__init__(table.record, key)
        self._table = table

    name = cells.text(doc='Paddle\'s name of the op: ``"matmul"``.')
    phase = cells.choice(PHASES, doc='``"forward"``, ``"backward"`` or ``"optimizer"``.')
    start_ns = cells.number(doc="Host time from the beginning of the trace to the call.")
    duration_ns = cells.number(
        doc="Host time of the call; on a GPU the kernel may still have been running after it."
    )
    thread = cells.number(
        doc="Number of the thread that called it; 0 is the first one that called an op."
    )
    attributes = cells.text(
        doc="""The call's arguments that are no tensors: ``"strides=[2, 2], groups=1"``.

        Names are Paddle's own; a value of an undeclared op has no name.
        """
    )
    is_pylayer = cells.flag(doc="Whether it is a whole ``PyLayer.apply``.")
    raised = cells.flag(doc="Whether the call raised an exception.")

    @property
    def layer(self) -> str:
        """The path of the innermost layer that called the op, ``""`` outside of layers.

        If the path begins with a number, or if two models have the same path, the model's name
        comes first: ``"critic.0"``.
        """
        return self._layer_text(self._record.layer_names["name"])

    @property
    def layer_class(self) -> str:
        """The class of the layer, such as ``"Linear"``."""
        return self._layer_text(self._record.layers["class"])

    @property
    def region(self) -> str | None:
        """The name of the innermost region, None outside of regions."""
        scope = int(self._table.region_scopes[self.key])
        return self._record.text(int(self._record.scopes["name"][scope])) if scope >= 0 else None

    @property
    def stack(self) -> list[Frame]:
        """The Python frames that called the op, the innermost first."""
        return stack_of(self._record, self._cell("stack"))

    @property
    def frame(self) -> Frame | None:
        """The innermost frame of the user's code, otherwise of another library; None if unknown."""
        stack = self._cell("stack")
        frame = int(self._record.stack_frames["frame"][stack]) if stack >= 0 else -1
        return Frame(self._record, frame) if frame >= 0 else None

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors that the op read, in order."""
        return self._tensors("input")

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that the op made or modified, in order."""
        return self._tensors("output")

    @property
    def grad_nodes(self) -> list[int]:
        """The keys of the grad nodes that the op made."""
        starts, nodes = self._table.grad_nodes
        found: list[int] = nodes[starts[self.key] : starts[self.key + 1]].tolist()
        return found

    def _layer_text(self, of_layer: Keys) -> str:
        layer = int(self._table.layers[self._cell("scope")])
        return self._record.text(int(of_layer[layer])) if layer >= 0 else ""

    def _tensors(self, role: str) -> list[Tensor]:
        """Return the op's tensors with one role, in the order of the record."""
        starts, order = self._table.uses
        rows = order[starts[self.key] : starts[self.key + 1]]
        uses = self._record.uses
        keys = uses["tensor"][rows[uses["role"][rows] == ROLES.index(role)]].tolist()
        return [Tensor(self._record, key) for key in keys if key >= 0]

    def __repr__(self) -> str:
        where = f" in {self.layer}" if self.layer else ""
        shapes = ", ".join(str(list(tensor.shape)) for tensor in self.outputs)
        return f"<Op {self.key}: {self.name}{where} → {shapes}, {self.where}>"


class OpTable(Reported, Framed, RowTable[Op]):
    """The ops of a trace in the order in which they were called."""

    _table_name = "ops"
    _index = "op"

    def _row(self, key: int) -> Op:
        return Op(self, key)

    @cached_property
    def grad_nodes(self) -> tuple[Keys, Keys]:
        """The grad nodes of each op, as :func:`.pairing.grad_nodes_of_ops` returns them."""
        return grad_nodes_of_ops(self.record)

    @cached_property
    def region_scopes(self) -> Keys:
        """The scope of each op's innermost region, int32, shape ``[ops]``; -1 for none."""
        return innermost_scopes(self.record, "region")

    @cached_property
    def layers(self) -> Keys:
        """The innermost layer of each scope, -1 outside of layers. The last entry is always -1."""
        return layers_of_scopes(self.record)

    @cached_property
    def uses(self) -> tuple[Keys, Keys]:
        """The rows of ``uses`` of each op: see :func:`paddle_lab.trace.trees.csr`."""
        return csr(self.record.uses["op"], len(self.record.ops))

    def _columns(self) -> dict[str, Values]:
        record, keys = self.record, self.keys
        ops = {name: column[keys] for name, column in record.ops.columns.items()}
        texts = np.array([*record.strings, ""], object)
        layer, region = self.layers[ops["scope"]], self.region_scopes[keys]
        frame = taken(record.stack_frames["frame"], ops["stack"])
        cell, line = (taken(record.frames[name], frame) for name in ("cell", "line"))
        region_names = texts[taken(record.scopes["name"], region)]
        starts, nodes = self.grad_nodes
        return {
            "op": keys,
            "name": texts[ops["name"]],
            "layer": texts[taken(record.layer_names["name"], layer)],
            "layer_class": texts[taken(record.layers["class"], layer)],
            "phase": np.array(PHASES, object)[ops["phase"]],
            "region": Partial(region_names, region < 0),
            "file": texts[taken(record.frames["file"], frame)],
            "line": np.maximum(line, 0),
            "function": texts[taken(record.frames["function"], frame)],
            "cell": optional(cell),
            "inputs": self._tensor_texts("input"),
            "outputs": self._tensor_texts("output"),
            "attributes": texts[ops["attributes"]],
            "start_ns": ops["start_ns"],
            "duration_ns": ops["duration_ns"],
            "thread": ops["thread"],
            "is_pylayer": ops["is_pylayer"] == 1,
            "raised": ops["raised"] == 1,
            "grad_nodes": [nodes[starts[key] : starts[key + 1]].tolist() for key in keys.tolist()],
        }

    def _tensor_texts(self, role: str) -> list[list[str]]:
        """Return each op's tensors with one role, as texts."""
        uses = self.record.uses
        is_asked = (uses["role"] == ROLES.index(role)) & (uses["tensor"] >= 0)
        rows = rows_by(np.where(is_asked, uses["op"], -1), uses["tensor"], len(self.record.ops))
        used = [rows(key) for key in self.keys.tolist()]
        keys = np.array(sorted({*chain(*used)}), np.int64)
        text = dict(zip(keys.tolist(), tensor_texts(self.record, keys), strict=True))
        return [[text[tensor] for tensor in tensors] for tensors in used]

    def _report(self) -> Report:
        rows = [
            (
                str(op.key),
                op.name,
                op.layer,
                ", ".join(str(list(tensor.shape)) for tensor in op.outputs),
                op.where,
                f"{op.duration_ns / 1e3:,.0f} µs",
            )
            for op in self[:ROWS_SHOWN]
        ]
        names = header("reports", "op", "name", "layer", "output", "line", "host_time")
        return Report(say("page.count.op", n=len(self)), names, rows, row_count=len(self))
