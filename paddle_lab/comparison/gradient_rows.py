"""``comparison.gradient_rows``: the compared gradients as rows and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_lab.analysis.gradients.gradients import Gradient, GradientTable
from paddle_lab.analysis.source.stacks import Frame, Placed
from paddle_lab.analysis.tables.columns import Values
from paddle_lab.analysis.tables.data_frames import Framed, attributes
from paddle_lab.analysis.tables.ops import Op
from paddle_lab.analysis.tables.rows import RowList
from paddle_lab.comparison.compared import Compared
from paddle_lab.comparison.errors import Errors
from paddle_lab.trace.schema import COMPARE_STATES
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.comparison.rows import ComparedTable

_COLUMNS = ("name", "state", "max_abs", "max_rel", "cosine", "ulp", "file", "line")


class ComparedGradient(Placed):
    """A gradient that a grad node passed on, in both traces or in one of them.

    Parameters
    ----------
    rows
        The compared ops.
    found
        The comparison.
    at
        The position among the compared gradients.
    """

    def __init__(self, rows: ComparedTable, found: Compared, at: int) -> None:
        compared = found.gradients
        assert compared is not None
        self.op_row = int(compared.row[at])
        """The row in ``comparison.rows`` of the op whose grad node passed the gradient on."""
        self.state = COMPARE_STATES[compared.state[at]]
        """``"equal"``, ``"different"``, ``"only_a"`` or ``"only_b"``."""
        self.a: Op | None = rows.op("a", self.op_row)
        """The op of trace a, a row of its ``ops``."""
        self.b: Op | None = rows.op("b", self.op_row)
        """The op of trace b."""
        self.gradient_a, self.gradient_b = (
            GradientTable(side.record)[int(key)] if key >= 0 else None
            for side, key in ((found.a, compared.a[at]), (found.b, compared.b[at]))
        )
        """The gradient in both traces."""
        errors = compared.errors.get(at, Errors())
        self.max_abs, self.max_rel, self.cosine = errors[:3]
        """The errors of :class:`ComparedOp`, if ``grads=`` kept this gradient in both traces."""
        self.ulp = errors.ulp if errors.ulp >= 0 else None
        self.origin = ""
        self.reason = say("comparison.reason.values") if self.state == "different" else ""

    @property
    def gradient(self) -> Gradient:
        """The gradient in trace b, or in trace a if it is only there."""
        found = self.gradient_b or self.gradient_a
        assert found is not None
        return found

    @property
    def name(self) -> str:
        """The name of the grad node that passed the gradient on."""
        return self.gradient.source or self.gradient.target

    @property
    def frame(self) -> Frame | None:
        """The line of the op in trace b, or in trace a if it is only there."""
        op = self.b or self.a
        return op.frame if op else None

    def __repr__(self) -> str:
        return f"<ComparedGradient: {self.name}, {self.state}, {self.where}>"


class ComparedGradients(Framed, RowList[ComparedGradient]):
    """The gradients of two traces, in the order of trace b; empty without digests."""

    def _columns(self) -> dict[str, Values]:
        return attributes(self, _COLUMNS)


def gradient_rows(rows: ComparedTable, found: Compared) -> ComparedGradients:
    """Return the compared gradients as a table."""
    count = len(found.gradients.state) if found.gradients is not None else 0
    return ComparedGradients([ComparedGradient(rows, found, at) for at in range(count)])
