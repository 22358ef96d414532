"""``trace.gradients``: the gradients of the backward passes as rows that a person can read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.gradients.curve import GradientCurve
from paddle_lab.analysis.gradients.gradient import Bucket, Gradient
from paddle_lab.analysis.graph.trees import Keys, csr
from paddle_lab.analysis.tables.op import Op
from paddle_lab.analysis.tables.op_table import OpTable
from paddle_lab.analysis.tables.pandas_frame import pandas_module
from paddle_lab.analysis.tables.text_table import html_table, text_table
from paddle_lab.trace.floats import from_bits
from paddle_lab.trace.record import Record
from paddle_lab.words import say

if TYPE_CHECKING:
    import pandas
    from bokeh.plotting import figure

_ROWS_SHOWN = 20
_COLUMNS = ("gradient", "from", "to", "layer", "shape", "norm", "min", "max", "zeros", "NaN", "Inf",
            "line")  # fmt: skip
_NUMBERS = (0, 5, 6, 7, 8, 9, 10)


class GradientTable(Sequence[Gradient]):
    """The gradients that passed an edge of a backward graph, in the order in which they did.

    Parameters
    ----------
    record
        A record with answer tables.
    keys
        Which rows of ``grad_stats``, int32, shape ``[gradients]``; all by default.
    """

    def __init__(self, record: Record, keys: Keys | None = None) -> None:
        self.record = record
        self._keys = np.arange(len(record.grad_stats), dtype=np.int32) if keys is None else keys

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> Gradient: ...
    @overload
    def __getitem__(self, index: slice) -> GradientTable: ...
    def __getitem__(self, index: int | slice) -> Gradient | GradientTable:
        if isinstance(index, slice):
            return GradientTable(self.record, self._keys[index])
        return Gradient(self, int(self._keys[index]))

    def __iter__(self) -> Iterator[Gradient]:
        return (Gradient(self, key) for key in self._keys.tolist())

    def curve(self, *, call: int | None = None) -> GradientCurve:
        """Return how large the gradients were layer by layer, in the order of the forward.

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
            ``bokeh.io.show`` and ``bokeh.io.save`` take it; it can be changed before.

        Raises
        ------
        ValueError
            If no gradients of this call, or none at all, were recorded.
        """
        from paddle_lab.analysis.figures.gradient_figure import gradient_figure

        return gradient_figure(self.curve(call=call))

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with one row a gradient, indexed by its key.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = pandas_module("trace.gradients.to_pandas()")
        columns = (
            "backward_call", "source", "target", "layer", "parameter", "file", "line", "shape",
            "dtype", "elements", "zeros", "nans", "infs", "smallest", "largest", "mean", "norm",
        )  # fmt: skip
        rows: list[dict[str, Any]] = [
            {"op": row.op.name if row.op else "", **{name: getattr(row, name) for name in columns}}
            for row in self
        ]
        return pandas.DataFrame(rows, index=pandas.Index(self._keys, name="gradient"))

    def number(self, column: str, key: int) -> float:
        """Return one float of a row."""
        return float(self._floats[column][key])

    @cached_property
    def _floats(self) -> dict[str, npt.NDArray[np.float32]]:
        table = self.record.grad_stats
        return {name: from_bits(table[name]) for name in ("smallest", "largest", "mean", "norm")}

    def histogram(self, key: int) -> list[Bucket]:
        """Return the values of a row by binary exponent and sign, the most negative first."""
        starts, order = self._histograms
        table = self.record.grad_histograms
        found = [
            Bucket(
                int(table["exponent"][row]),
                bool(table["is_negative"][row]),
                int(table["count"][row]),
            )
            for row in order[starts[key] : starts[key + 1]].tolist()
        ]
        return sorted(
            found,
            key=lambda bucket: (
                (-1, -bucket.exponent) if bucket.is_negative else (1, bucket.exponent)
            ),
        )

    @cached_property
    def _histograms(self) -> tuple[Keys, Keys]:
        return csr(self.record.grad_histograms["grad_stat"], len(self.record.grad_stats))

    @cached_property
    def _ops(self) -> OpTable:
        return OpTable(self.record)

    def op_of_node(self, node: int) -> Op | None:
        """Return the op that made a grad node, None for none."""
        op = int(self.record.grad_nodes["op"][node]) if node >= 0 else -1
        return self._ops[op] if op >= 0 else None

    def node_name(self, node: int) -> str:
        """Return Paddle's name of a grad node, ``""`` for -1."""
        return self.record.text(int(self.record.grad_nodes["name"][node])) if node >= 0 else ""

    def parameter_of_node(self, node: int) -> str:
        """Return the path or name of the tensor that a leaf's node stands for."""
        leaf = int(self.record.grad_nodes["parameter"][node]) if node >= 0 else -1
        if leaf < 0:
            return ""
        tensors = self.record.tensors
        return self.record.text(int(tensors["path"][leaf])) or self.record.text(
            int(tensors["name"][leaf])
        )

    def _lines(self) -> list[tuple[str, ...]]:
        return [
            (
                str(row.key),
                row.source or say("reports.start"),
                row.parameter or row.target,
                row.layer,
                str(list(row.shape)),
                f"{row.norm:.3g}",
                f"{row.smallest:.3g}",
                f"{row.largest:.3g}",
                f"{row.zero_share:.0%}",
                f"{row.nans:,}",
                f"{row.infs:,}",
                row.where,
            )
            for row in self[:_ROWS_SHOWN]
        ]

    def _more(self) -> str:
        more = len(self) - _ROWS_SHOWN
        return say("memory.more", n=more) if more > 0 else ""

    def __repr__(self) -> str:
        if not len(self.record.grad_stats):
            return say("reports.no_gradients")
        table = text_table(_header(), self._lines(), numbers=_NUMBERS)
        lines = [say("reports.gradients", n=len(self)), table]
        return "\n".join([*lines, self._more()]).rstrip()

    def _repr_html_(self) -> str:
        if not len(self.record.grad_stats):
            return f"<p>{say('reports.no_gradients')}</p>"
        table = html_table(_header(), self._lines(), numbers=_NUMBERS)
        return f"<p>{say('reports.gradients', n=len(self))}</p>{table}<p>{self._more()}</p>"


def _header() -> list[str]:
    same = ("NaN", "Inf")
    return [name if name in same else say(f"reports.column.{name}") for name in _COLUMNS]
