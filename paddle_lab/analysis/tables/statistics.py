"""What rows of ``grad_stats`` and rows of ``value_stats`` have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from paddle_lab.analysis.tables import cells
from paddle_lab.analysis.tables.op_rows import OpRow, OpRowTable, RowT
from paddle_lab.trace.table import Table
from paddle_lab.trace.trees import Keys, csr


@dataclass(frozen=True)
class Bucket:
    """How many values have ``2**exponent <= abs(value) < 2**(exponent + 1)``, of one sign."""

    exponent: int
    is_negative: bool
    count: int


class Measured(OpRow):
    """A row with the statistics of an array.

    Smallest, largest, mean and norm are computed over the finite values, in single precision; for
    complex numbers, over the magnitudes.
    """

    __slots__ = ()

    elements = cells.number(doc="How many values it has.")
    zeros = cells.number(doc="How many of them are exactly zero.")
    nans = cells.number(doc="How many values are NaN.")
    infs = cells.number(doc="How many values are infinite.")
    smallest = cells.real(doc="The smallest finite value, 0 where there is none.")
    largest = cells.real(doc="The largest finite value, 0 where there is none.")
    mean = cells.real(doc="Mean of the finite values.")
    norm = cells.real(doc="Square root of the sum of squares of the finite values.")

    @property
    def zero_share(self) -> float:
        """The share of zeros, from 0 to 1."""
        return self.zeros / self.elements if self.elements else 0.0

    def shown(self, value: float | None) -> str:
        """Return a statistic of this row as text, ``"–"`` if unknown or if no value is finite."""
        is_known = value is not None and self.elements > self.nans + self.infs
        return f"{value:.3g}" if is_known else "–"

    @property
    def magnitude(self) -> float:
        """The largest finite magnitude."""
        return max(abs(self.smallest), abs(self.largest))

    @property
    def histogram(self) -> list[Bucket]:
        """Counts of nonzero finite values by sign and exponent, the most negative first."""
        table, starts, rows = self._table.histograms
        rows = rows[starts[self.key] : starts[self.key + 1]]
        exponents, signs, counts = (
            table[name][rows].tolist() for name in ("exponent", "is_negative", "count")
        )
        found = map(Bucket, exponents, map(bool, signs), counts)
        return sorted(
            found, key=lambda one: (not one.is_negative, one.exponent * (1 - 2 * one.is_negative))
        )


class MeasuredTable(OpRowTable[RowT]):
    """A table of rows with statistics."""

    @cached_property
    def histograms(self) -> tuple[Table, Keys, Keys]:
        """The table of histograms, and for each row of this table the rows of its histogram."""
        of = self._table_name.removesuffix("_stats")
        table = self.record.tables[f"{of}_histograms"]
        return table, *csr(table[f"{of}_stat"], len(self.record.tables[self._table_name]))
