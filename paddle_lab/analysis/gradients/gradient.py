"""One gradient on its way as a row that a person can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.analysis.tables.op import Op
from paddle_lab.analysis.tables.placed import Placed
from paddle_lab.analysis.tables.tensors import parse_shape

if TYPE_CHECKING:
    import numpy.typing as npt

    from paddle_lab.analysis.gradients.gradient_table import GradientTable


@dataclass(frozen=True)
class Bucket:
    """How many values have ``2**exponent <= abs(value) < 2**(exponent + 1)``, of one sign."""

    exponent: int
    is_negative: bool
    count: int


class Gradient(Placed):
    """One gradient that a grad node handed on: a view of its row in ``grad_stats``.

    Smallest, largest, mean and norm are of the finite values; of complex numbers all is said of
    the magnitudes.
    """

    __slots__ = ("_table", "key")

    def __init__(self, table: GradientTable, key: int) -> None:
        self._table = table
        self.key = key
        """Row in the record's ``grad_stats``."""

    @property
    def backward_call(self) -> int:
        """Key of the backward call, in ``trace.backward_calls``."""
        return self._cell("backward_call")

    @property
    def grad_edge(self) -> int | None:
        """Row in ``grad_edges``; None for what the backward call began with."""
        edge = self._cell("grad_edge")
        return edge if edge >= 0 else None

    @property
    def source(self) -> str:
        """Name of the grad node that handed it on, ``""`` for what the call began with."""
        return self._table.node_name(self.source_node)

    @property
    def target(self) -> str:
        """Name of the grad node that got it."""
        return self._table.node_name(self.target_node)

    @property
    def source_node(self) -> int:
        """Row of that node in ``grad_nodes``, -1 for what the call began with."""
        return self._cell("grad_node") if self.grad_edge is not None else -1

    @property
    def target_node(self) -> int:
        """Row of the node that got it in ``grad_nodes``."""
        edge = self.grad_edge
        if edge is None:
            return self._cell("grad_node")
        return int(self._table.record.grad_edges["target"][edge])

    @property
    def op(self) -> Op | None:
        """The op whose backward handed it on; None where the trace does not know any."""
        return self._table.op_of_node(self.source_node)

    @property
    def layer(self) -> str:
        """Path of that op's innermost layer, ``""`` outside layers."""
        return self.op.layer if self.op else ""

    @property
    def parameter(self) -> str:
        """Path of the parameter whose gradient it is, ``""`` for others."""
        return self._table.parameter_of_node(self.target_node)

    @property
    def frame(self) -> Frame | None:
        """The innermost frame of the user's own code that called the op."""
        return self.op.frame if self.op else None

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents, outermost first."""
        return parse_shape(self._text("shape"))

    @property
    def dtype(self) -> str:
        """``"float32"``."""
        return self._text("dtype")

    @property
    def elements(self) -> int:
        """How many values it has."""
        return self._cell("elements")

    @property
    def zeros(self) -> int:
        """How many of them are exactly zero."""
        return self._cell("zeros")

    @property
    def zero_share(self) -> float:
        """The share of zeros, 0 to 1."""
        return self.zeros / self.elements if self.elements else 0.0

    @property
    def nans(self) -> int:
        """How many values are NaN."""
        return self._cell("nans")

    @property
    def infs(self) -> int:
        """How many values are infinite."""
        return self._cell("infs")

    @property
    def smallest(self) -> float:
        """The smallest finite value, 0 where there is none."""
        return self._table.number("smallest", self.key)

    @property
    def largest(self) -> float:
        """The largest finite value, 0 where there is none."""
        return self._table.number("largest", self.key)

    @property
    def magnitude(self) -> float:
        """The largest finite magnitude."""
        return max(abs(self.smallest), abs(self.largest))

    @property
    def mean(self) -> float:
        """Mean of the finite values."""
        return self._table.number("mean", self.key)

    @property
    def norm(self) -> float:
        """Square root of the sum of squares of the finite values."""
        return self._table.number("norm", self.key)

    @property
    def histogram(self) -> list[Bucket]:
        """Values by binary exponent and sign, from the most negative to the largest."""
        return self._table.histogram(self.key)

    @property
    def value(self) -> npt.NDArray[Any] | None:
        """The gradient itself; None unless its region was asked for, and in a loaded trace."""
        return self._table.record.grad_values.get(self.key)

    def _cell(self, column: str) -> int:
        return int(self._table.record.grad_stats[column][self.key])

    def _text(self, column: str) -> str:
        return self._table.record.text(self._cell(column))

    def __repr__(self) -> str:
        way = f"{self.source or 'start'} → {self.target}"
        return f"<Gradient {self.key}: {way} {list(self.shape)}, norm {self.norm:.3g}>"
