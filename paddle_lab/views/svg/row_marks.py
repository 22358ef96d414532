"""The marks of findings on the rows of a static picture."""

from __future__ import annotations

from dataclasses import dataclass

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import MARK_ROLES, SEVERITIES
from paddle_lab.views.svg.folding import Folded
from paddle_lab.views.text.finding_text import SIGNS
from paddle_lab.words import say

_NAMED = ("failed", "cut", "origin")
_ROLES = (*_NAMED, "", "path")
"""Roles that are drawn, the most important first; ``""`` is the place of a finding."""


@dataclass(frozen=True)
class RowMark:
    """The mark of the worst finding on a row's op or grad node."""

    severity: str
    role: str

    @property
    def text(self) -> str:
        """``"✕ failed"``, or only the sign."""
        word = say(f"page.mark.{self.role}") if self.role in _NAMED else ""
        return f"{SIGNS[self.severity]} {word}".strip()

    @staticmethod
    def first(*marks: RowMark | None) -> RowMark | None:
        """Return the mark with the lowest rank, None if there is none."""
        return min((mark for mark in marks if mark), key=lambda mark: mark.rank, default=None)

    @property
    def rank(self) -> tuple[int, int]:
        """The rank of the mark. The mark with the lowest rank is drawn."""
        return SEVERITIES.index(self.severity), _ROLES.index(self.role)


def row_marks(record: Record, folded: Folded) -> tuple[dict[int, RowMark], dict[int, RowMark]]:
    """Return the marks of ops and the marks of grad nodes, by row; empty without findings."""
    of_ops: dict[int, RowMark] = {}
    of_grad_nodes: dict[int, RowMark] = {}
    if "findings" not in record.tables:
        return of_ops, of_grad_nodes
    row_of_op = folded.row_of_op.tolist()
    op_of_node = record.grad_nodes["op"].tolist()

    def put(severity: str, role: str, op: int, grad_node: int) -> None:
        mark = RowMark(severity, role)
        maker = op_of_node[grad_node] if grad_node >= 0 else -1
        # A mark with an op and a grad node is drawn at the grad node if the op only made this node.
        op = -1 if grad_node >= 0 and op == maker and role else op
        for marks, key in ((of_ops, op), (of_grad_nodes, maker)):
            row = row_of_op[key] if key >= 0 else -1
            if row >= 0 and (row not in marks or mark.rank < marks[row].rank):
                marks[row] = mark

    findings, marks = record.findings, record.finding_marks
    severities = [SEVERITIES[severity] for severity in findings["severity"].tolist()]
    leads = zip(findings["op"].tolist(), findings["grad_node"].tolist(), strict=True)
    for finding, (op, grad_node) in enumerate(leads):
        put(severities[finding], "", op, grad_node)
    columns = (marks[name].tolist() for name in ("finding", "role", "op", "grad_node"))
    for finding, role, op, grad_node in zip(*columns, strict=True):
        # Draw only the path of the first finding. Paths of other findings would hide it.
        if MARK_ROLES[role] in _NAMED or (MARK_ROLES[role] == "path" and finding == 0):
            put(severities[finding], MARK_ROLES[role], op, grad_node)
    return of_ops, of_grad_nodes
