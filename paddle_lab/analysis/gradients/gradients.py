"""``trace.gradients``: the gradients of the backward passes as rows and as a table."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_lab.analysis.gradients.curve import GradientCurve
from paddle_lab.analysis.tables import cells
from paddle_lab.analysis.tables.columns import Values
from paddle_lab.analysis.tables.data_frames import attributes
from paddle_lab.analysis.tables.statistics import Measured, MeasuredTable
from paddle_lab.analysis.tables.tensors import Tensor, extents
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, header
from paddle_lab.trace.trees import Keys, taken
from paddle_lab.words import say

if TYPE_CHECKING:
    import numpy.typing as npt
    from bokeh.plotting import figure

_FRAME_COLUMNS = (
    "backward_call", "source", "target", "layer", "parameter", "file", "line", "shape", "dtype",
    "elements", "zeros", "nans", "infs", "smallest", "largest", "mean", "norm",
)  # fmt: skip


class Gradient(Measured):
    """A gradient that a grad node passed on. It reads its data from a row of ``grad_stats``.

    Smallest, largest, mean and norm are computed over the finite values; for complex numbers, over
    their magnitudes.
    """

    __slots__ = ()
    _table_name = "grad_stats"

    backward_call = cells.number(doc="Key of the backward call, in ``trace.backward_calls``.")
    grad_edge = cells.optional(
        doc="Row in ``grad_edges``; None for what the backward call began with."
    )
    shape = extents()
    dtype = cells.text(doc='``"float32"``.')

    @property
    def source(self) -> str:
        """The name of the grad node that passed the gradient on; ``""`` if the call began there."""
        return self._node_name(self.source_node)

    @property
    def target(self) -> str:
        """The name of the grad node that received the gradient."""
        return self._node_name(self.target_node)

    @property
    def source_node(self) -> int:
        """The row of the source in ``grad_nodes``, -1 if the call began with the gradient."""
        return self._cell("grad_node") if self.grad_edge is not None else -1

    @property
    def target_node(self) -> int:
        """The row of the target in ``grad_nodes``."""
        edge = self.grad_edge
        if edge is None:
            return self._cell("grad_node")
        return int(self._record.grad_edges["target"][edge])

    @property
    def parameter(self) -> str:
        """The path of the parameter that gets the gradient, ``""`` for other gradients."""
        node = self.target_node
        leaf = int(self._record.grad_nodes["parameter"][node]) if node >= 0 else -1
        if leaf < 0:
            return ""
        tensor = Tensor(self._record, leaf)
        return tensor.path or tensor.name

    @property
    def value(self) -> npt.NDArray[Any] | None:
        """The gradient's values, None unless a region kept them and the trace was not loaded."""
        return self._record.grad_values.get(self.key)

    def _node_name(self, node: int) -> str:
        return self._record.text(int(self._record.grad_nodes["name"][node])) if node >= 0 else ""

    def __repr__(self) -> str:
        way = f"{self.source or 'start'} → {self.target}"
        return f"<Gradient {self.key}: {way} {list(self.shape)}, norm {self.shown(self.norm)}>"


class GradientTable(MeasuredTable[Gradient]):
    """The gradients that flowed along edges of backward graphs, in the order of time."""

    _table_name = "grad_stats"
    _index = "gradient"
    _row_type = Gradient

    @cached_property
    def op_keys(self) -> Keys:
        """For each gradient: the op whose backward passed it on, -1 if unknown."""
        stats = self.record.grad_stats
        sources = np.where(stats["grad_edge"] < 0, -1, stats["grad_node"])
        return taken(self.record.grad_nodes["op"], sources)

    def curve(self, *, call: int | None = None) -> GradientCurve:
        """Return the size of the gradients, layer by layer, in forward order.

        Parameters
        ----------
        call
            Key of the backward call; by default the first one that has gradients.

        Raises
        ------
        ValueError
            If no gradients of this call, or none at all, were recorded.
        """
        known = np.unique(self.record.grad_stats["backward_call"]).tolist()
        if not known:
            raise ValueError(say("reports.no_gradients"))
        if call is None:
            call = int(known[0])
        if call not in known:
            raise ValueError(say("errors.no_gradients_of", call=call, known=known))
        return GradientCurve.of(self.record, call)

    def figure(self, *, call: int | None = None) -> figure:
        """Return a Bokeh figure of :meth:`curve`, for a report or a dashboard.

        Parameters
        ----------
        call
            Key of the backward call; by default the first one that has gradients.

        Returns
        -------
        bokeh.plotting.figure
            You can change it, and pass it to ``bokeh.io.show`` or ``bokeh.io.save``.

        Raises
        ------
        ValueError
            If no gradients of this call, or none at all, were recorded.
        """
        from paddle_lab.analysis.figures.gradient_figure import gradient_figure

        return gradient_figure(self.curve(call=call))

    def _columns(self) -> dict[str, Values]:
        ops = [row.op.name if row.op else "" for row in self]
        return {"gradient": self.keys, "op": ops, **attributes(self, _FRAME_COLUMNS)}

    def _report(self) -> Report:
        if not len(self.record.grad_stats):
            return Report(say("reports.no_gradients"))
        names = header(
            "reports", "gradient", "from", "to", "layer", "shape", "norm", "min", "max", "zeros",
            "NaN", "Inf", "line",
        )  # fmt: skip
        rows = [
            (
                str(row.key),
                row.source or say("reports.start"),
                row.parameter or row.target,
                row.layer,
                str(list(row.shape)),
                row.shown(row.norm),
                row.shown(row.smallest),
                row.shown(row.largest),
                f"{row.zero_share:.0%}",
                f"{row.nans:,}",
                f"{row.infs:,}",
                row.where,
            )
            for row in self[:ROWS_SHOWN]
        ]
        numbers = (0, 5, 6, 7, 8, 9, 10)
        return Report(say("reports.gradients", n=len(self)), names, rows, numbers, len(self))
