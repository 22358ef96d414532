"""``paddle_lab.compare(a, b)``: shows two traces as one graph, and where they first differ."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_lab.api import PathLike, Trace, load
from paddle_lab.garbage import collection_paused
from paddle_lab.options import hints_options
from paddle_lab.trace.limit import EXACT
from paddle_lab.words import say

if TYPE_CHECKING:
    import pandas

    from paddle_lab.analysis.findings.finding import FindingList
    from paddle_lab.analysis.tables.ops import Op
    from paddle_lab.comparison.compared import Compared
    from paddle_lab.comparison.gradient_rows import ComparedGradient, ComparedGradients
    from paddle_lab.comparison.rows import ComparedOp, ComparedTable
    from paddle_lab.replayed_values import ReplayedArray
    from paddle_lab.trace.record import Record


class Comparison(Trace):
    """Two traces compared op by op. A notebook shows it as one graph.

    It is also a trace. Its ops are those of trace b and, in between, those that are only in trace
    a.

    Parameters
    ----------
    a, b
        The traces.
    tolerance
        See :func:`compare`.
    is_rerun
        Whether ``a`` is a second run of ``b``. Then the findings are those of ``b``.
    """

    def __init__(
        self, a: Trace, b: Trace, tolerance: float = 0.0, *, is_rerun: bool = False
    ) -> None:
        super().__init__()
        self.a, self.b = a, b
        self._tolerance = tolerance
        self._is_rerun = is_rerun

    @property
    def is_recording(self) -> bool:
        """Whether trace b is still being recorded."""
        return self.b.is_recording

    @property
    def record(self) -> Record:
        """The tables of both traces; see :attr:`Trace.record`."""
        if self._record is None:
            self._record = self._union()
        return self._record

    @cached_property
    def _compared(self) -> Compared:
        from paddle_lab.analysis.answers import LateAnswers
        from paddle_lab.comparison.compared import compared
        from paddle_lab.comparison.origins import find_origins

        with collection_paused():
            records = LateAnswers(self.a), LateAnswers(self.b)
            found = compared(*records, self._tolerance, is_rerun=self._is_rerun)
            replay = self.b._replay  # noqa: SLF001  (another object of this class)
            if replay is not None and self.a.record.kept_values:
                found.largest = find_origins(found, replay.in_float64)
        return found

    def _union(self) -> Record:
        from paddle_lab.comparison.findings import comparison_notices
        from paddle_lab.comparison.union import union

        with collection_paused():
            record = self._record = union(self._compared)
        titles = {name: each.record.origin.title for name, each in (("a", self.a), ("b", self.b))}
        record.origin.title = say("comparison.title", **titles)
        record.origin.notices = comparison_notices(self.rows, self._compared)
        if self._is_rerun:
            record.origin.notices += self.b.record.origin.notices
        return record

    @property
    def rows(self) -> ComparedTable:
        """One row for each op of both traces, in the order of trace b."""
        from paddle_lab.comparison.rows import ComparedTable

        return ComparedTable(self.view_record, self._compared)

    @property
    def gradient_rows(self) -> ComparedGradients:
        """One row for each gradient of both traces that has a digest, in the order of trace b."""
        from paddle_lab.comparison.gradient_rows import gradient_rows

        return gradient_rows(self.rows, self._compared)

    @property
    def first(self) -> ComparedOp | ComparedGradient | None:
        """The first op that differs or is only in one trace; None if nothing differs.

        If a gradient differs before it, it is this gradient.
        """
        from paddle_lab.comparison.findings import first_of

        return first_of(self.rows, self._compared)

    @property
    def findings(self) -> FindingList:
        """The first difference as a finding, with the lines of both traces.

        For a run and its second run, the findings of the run.
        """
        from paddle_lab.analysis.findings.finding import FindingList
        from paddle_lab.comparison.findings import comparison_findings, findings_of_b

        if self._is_rerun:
            return FindingList(findings_of_b(self.b.findings, self._compared))
        return FindingList(comparison_findings(self.rows, self._compared))

    def value(self, op: Op | int, output: int = 0, *, run: int = 0) -> ReplayedArray:
        """Return a value of trace b, or of trace a if the op is only there.

        See :meth:`Trace.value`.
        """
        row = op if isinstance(op, int) else op.key
        one, two = int(self._compared.op_a[row]), int(self._compared.op_b[row])
        trace, key = (self.b, two) if two >= 0 else (self.a, one)
        return trace.value(key, output, run=run)

    def gradient(self, node: int, output: int = 0, *, call: int | None = None) -> ReplayedArray:
        """Return a gradient of trace b; see :meth:`Trace.gradient`."""
        return self.b.gradient(node, output, call=call)

    def to_pandas(self) -> pandas.DataFrame:
        """Return :attr:`rows` as a data frame.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return self.rows.to_pandas()

    def to_csv(self, path: PathLike) -> Path:
        """Write :attr:`rows` as comma-separated values, and return the path.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        return self.rows.to_csv(path)

    def __repr__(self) -> str:
        return f"<Comparison: {self.record.origin.notices[0]}>"


@hints_options
def compare(a: Trace | PathLike, b: Trace | PathLike, *, tolerance: float = 0.0) -> Comparison:
    """Compare two traces op by op, such as one before and one after an edit.

    Ops are matched by their layers, calls, lines and order. So the others still match if some ops
    were added, removed or renamed. If both traces have digests of an op (``trace(digest=True)``),
    its values are compared; otherwise its name, shapes, dtypes and attributes.

    Parameters
    ----------
    a, b
        Traces, or paths of saved traces. Differences are described as changes from ``a`` to ``b``.
    tolerance
        The largest difference, relative to the largest magnitude of the tensor, with which ops
        count as equal. If the traces did not keep the values, their extremes and means are
        compared.

    Returns
    -------
    Comparison
        ``comparison.first`` is the first difference, ``comparison.rows`` has all ops.

    Raises
    ------
    TypeError
        If ``a`` or ``b`` is neither a trace nor a path; for an unknown option, naming the nearest.
    ValueError
        If the tolerance is negative.
    TraceFileError
        If a file is not a trace.
    OSError
        If a file cannot be read.
    """
    if not tolerance >= 0:  # also NaN
        raise ValueError(say("comparison.tolerance", value=repr(tolerance)))
    found = Comparison(opened(a), opened(b), float(tolerance))
    _ = found.record
    return found


def digest_decimals_of(trace: Trace) -> int:
    """Return the decimals with which digests of another trace can be compared to this trace's."""
    decimals = trace.record.value_digests["decimals"]
    return int(decimals[0]) if len(decimals) else EXACT


def opened(trace: Any) -> Trace:
    """Return a trace, or the trace in a file.

    Raises
    ------
    TypeError
        If it is neither a trace nor a path.
    """
    if isinstance(trace, Trace):
        return trace
    if isinstance(trace, str | os.PathLike):
        return load(trace)
    raise TypeError(say("comparison.no_trace", type=type(trace).__name__))
