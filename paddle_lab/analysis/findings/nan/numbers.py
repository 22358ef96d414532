"""The NaN, Inf and other numbers in each tensor of a record."""

from __future__ import annotations

import re
from bisect import bisect_right

import numpy as np

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.backward import with_bad_numbers
from paddle_lab.analysis.tables.values import Value, ValueTable
from paddle_lab.trace.schema import ROLES
from paddle_lab.trace.trees import nearest_marked, rows_by

_INPUT, _OUTPUT = ROLES.index("input"), ROLES.index("output")
# These ops also return buffers for their backward, which may have parts that were never written.
_WITH_SCRATCH = re.compile(r"_norm|rnn|lstm|gru|attn|attention|dropout|fused|ctc")


class TensorNumbers:
    """The statistics of every floating-point tensor of a record."""

    def __init__(self, facts: Facts) -> None:
        record = facts.record
        stats, uses, self._values = record.value_stats, record.uses, ValueTable(record)
        self._nans, self._infs = stats["nans"].tolist(), stats["infs"].tolist()
        # Omit the buffers that ops made for their own backward, unless another op read them.
        has_scratch = facts.is_named([one for one in record.strings if _WITH_SCRATCH.search(one)])
        is_second = (uses["role"] == _OUTPUT) & (uses["slot"] > 0) & has_scratch[uses["op"]]
        read = uses["tensor"][uses["role"] == _INPUT]
        scratch = np.setdiff1d(uses["tensor"][is_second], read)
        looked_at = np.where(np.isin(stats["tensor"], scratch), -1, stats["tensor"])
        self._rows = rows_by(looked_at, np.arange(len(looked_at)), len(record.tensors))
        detached_from = record.tensors["detached_from"]
        has_rows = np.zeros(len(detached_from), np.bool_)
        has_rows[looked_at[looked_at >= 0]] = True
        sources = nearest_marked(detached_from, has_rows | (detached_from < 0))
        self.source = sources.tolist().__getitem__
        """The tensor whose values a detached one shares."""
        is_bad = np.isin(sources, stats["tensor"][with_bad_numbers(stats)])
        self.bad_tensors: list[int] = np.flatnonzero(is_bad).tolist()
        """The tensors that had NaN or Inf at any time, in order."""
        self._overwritten: dict[int, list[int]] = {}
        for event in facts.events("overwritten"):
            self._overwritten.setdefault(event.tensor, []).append(event.ops_before)

    def of(self, tensor: int, op: int = 0) -> Value | None:
        """Return the statistics of a tensor when an op was called; None if there are none."""
        row = self._row(tensor, op)
        return self._values[row] if row >= 0 else None

    def has_nan(self, tensor: int, op: int = 0) -> bool:
        """Tell whether a tensor had NaN when an op was called."""
        row = self._row(tensor, op)
        return row >= 0 and self._nans[row] > 0

    def has_inf(self, tensor: int, op: int = 0) -> bool:
        """Tell whether a tensor had Inf when an op was called."""
        row = self._row(tensor, op)
        return row >= 0 and self._infs[row] > 0

    def _row(self, tensor: int, op: int) -> int:
        tensor = self.source(tensor)
        rows = self._rows(tensor)
        if len(rows) < 2:
            return rows[0] if rows else -1
        # Each write outside of ops adds a row. Take the row that was valid when ``op`` was called.
        return rows[min(bisect_right(self._overwritten.get(tensor, []), op), len(rows) - 1)]
