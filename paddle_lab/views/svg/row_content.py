"""The texts in a row of a static picture, and next to it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from paddle_lab.analysis.graph.dataflow import producers
from paddle_lab.analysis.graph.pairing import grad_nodes_of_ops
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import GROUP_KINDS, PHASES, ROLES, TENSOR_KINDS
from paddle_lab.trace.trees import Keys, csr
from paddle_lab.views.svg.folding import Folded
from paddle_lab.views.svg.group_items import Item, fold_label
from paddle_lab.words import say

_INPUT = ROLES.index("input")
_PARAMETER, _BUFFER = TENSOR_KINDS.index("parameter"), TENSOR_KINDS.index("buffer")
_EXTERNAL = TENSOR_KINDS.index("external")
_NAMED_KINDS = ("region", "pylayer")
_NODE_SUFFIX = re.compile(r"Node(Final)?$")


@dataclass
class RowContent:
    """The texts of a row, and how it is drawn."""

    label: str
    detail: str = ""
    phase: str = "forward"
    repeats: int = 1
    is_group: bool = False
    is_gap: bool = False
    raised: bool = False
    parameters: list[str] = field(default_factory=list)
    buffers: list[str] = field(default_factory=list)
    data: list[str] = field(default_factory=list)
    grad_label: str = ""


class RowReader:
    """Reads the contents of rows.

    Parameters
    ----------
    record
        A record with answer tables.
    folded
        The rows.
    """

    def __init__(self, record: Record, folded: Folded) -> None:
        self._record = record
        shown = np.where(folded.is_shown, folded.row_of_op, -1)
        self._ops_by_row = csr(shown, len(folded.rows))
        self._uses = csr(np.where(record.uses["role"] == _INPUT, record.uses["op"], -1), len(shown))
        self._grad_nodes = grad_nodes_of_ops(record)
        self._rows = folded.rows
        kind = record.tensors["kind"]
        is_data = (kind == _EXTERNAL) & (producers(record)[0] < 0)
        self._is_chip = np.isin(kind, (_PARAMETER, _BUFFER)) | is_data

    def read(self, row: int) -> RowContent:
        """Return the content of a row."""
        item = self._rows[row]
        starts, order = self._ops_by_row
        ops = order[starts[row] : starts[row + 1]]
        content = self._head(item, len(ops))
        content.phase = PHASES[self._record.ops["phase"][ops[0]]] if len(ops) else "forward"
        content.is_gap = item.is_gap
        content.raised = bool(self._record.ops["raised"][ops].any())
        if content.phase != "optimizer":
            self._add_inputs(content, ops)
        self._add_grad_nodes(content, ops)
        return content

    def title(self, item: Item) -> tuple[str, str]:
        """Return the name and class of an open group, with ``×12`` if it stands for 12 groups."""
        groups = self._record.groups
        names = [self._record.text(int(groups["label"][group])) for group in item.groups]
        count = f"  ×{len(names)}" if len(names) > 1 else ""
        return fold_label(names[0], names[-1]) + count, self._class(item.groups[0])

    def _head(self, item: Item, op_count: int) -> RowContent:
        if item.is_gap:
            return RowContent(say("reports.picture.more_ops", n=op_count))
        if item.ops:
            return RowContent(self._op_name(item.ops[0]))
        groups, group = self._record.groups, item.groups[0]
        title, class_name = self.title(item)
        if int(groups["op_count"][group]) == 1:
            name = self._op_name(int(groups["first_op"][group]))
            detail = "" if name == title else name
            return RowContent(title, detail, repeats=len(item.groups))
        key = "reports.picture.group_each" if len(item.groups) > 1 else "reports.picture.group"
        value = self._record.text(int(groups["value"][group])) if len(item.groups) == 1 else ""
        said = " · ".join(filter(None, [class_name, f"= {value}" if value else ""]))
        detail = f"{said} · {say(key, n=int(groups['op_count'][group]))}"
        return RowContent(
            title, detail.removeprefix(" · "), repeats=len(item.groups), is_group=True
        )

    def is_region(self, item: Item) -> bool:
        """Return whether a group is a region, which the user named."""
        return self._kind(item.groups[0]) == "region"

    def _kind(self, group: int) -> str:
        return GROUP_KINDS[self._record.groups["kind"][group]]

    def _class(self, group: int) -> str:
        """Return the class of a layer, or the kind of another group such as a region."""
        name = self._record.text(int(self._record.groups["class"][group]))
        kind = self._kind(group)
        return name or (say(f"page.group_kind.{kind}") if kind in _NAMED_KINDS else "")

    def _op_name(self, op: int) -> str:
        return self._record.text(int(self._record.ops["name"][op]))

    def _add_inputs(self, content: RowContent, ops: Keys) -> None:
        record, tensors = self._record, self._record.tensors
        read = record.uses["tensor"][_rows_of(self._uses, ops)]
        read = read[read >= 0]
        chips = list(dict.fromkeys(read[self._is_chip[read]].tolist()))
        columns = ("kind", "path", "name", "shape", "stop_gradient")
        # A row may stand for a hundred thousand ops.
        for kind, path, name, shape, is_fixed in zip(
            *(tensors[column][chips].tolist() for column in columns), strict=True
        ):
            if kind in (_PARAMETER, _BUFFER):
                label = record.text(path).rpartition(".")[2] or record.text(name)
                # For Paddle, the running mean of BatchNorm is a parameter, but it is not trained.
                is_trained = kind == _PARAMETER and not is_fixed
                (content.parameters if is_trained else content.buffers).append(label)
            else:
                content.data.append(record.text(shape) or say("reports.picture.data"))

    def _add_grad_nodes(self, content: RowContent, ops: Keys) -> None:
        nodes = _rows_of(self._grad_nodes, ops)
        names: Counter[str] = Counter()
        for code, count in Counter(self._record.grad_nodes["name"][nodes].tolist()).items():
            names[_NODE_SUFFIX.sub("", self._record.text(code))] += count
        if content.is_group or content.is_gap or len(names) > 2:
            content.grad_label = say("page.count.grad_node", n=len(nodes)) if len(nodes) else ""
        else:
            content.grad_label = " · ".join(
                name if count == 1 else f"{name} ×{count}" for name, count in names.items()
            )


def _rows_of(by_key: tuple[Keys, Keys], keys: Keys) -> Keys:
    """Return the rows of all ``keys``, from the result of :func:`~paddle_lab.trace.trees.csr`."""
    starts, order = by_key
    counts = starts[keys + 1] - starts[keys]
    first = starts[keys] - np.cumsum(counts) + counts
    return order[np.repeat(first, counts) + np.arange(counts.sum())]
