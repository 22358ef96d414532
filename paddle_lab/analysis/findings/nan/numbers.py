"""What was in each tensor of a record, as checks ask for it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.backward import with_bad_numbers
from paddle_lab.analysis.graph.trees import Keys, Rows, nearest_marked, rows_by
from paddle_lab.trace.floats import from_bits
from paddle_lab.trace.schema import ROLES

_INPUT, _OUTPUT = ROLES.index("input"), ROLES.index("output")
# These ops also return buffers for their own backward, parts of which may never be written.
_WITH_SCRATCH = re.compile(r"_norm|rnn|lstm|gru|attn|attention|dropout|fused|ctc")


@dataclass(frozen=True)
class Numbers:
    """What was in one tensor; smallest and largest are of its finite values."""

    elements: int
    zeros: int
    nans: int
    infs: int
    smallest: float
    largest: float

    @property
    def magnitude(self) -> float:
        """The largest finite magnitude."""
        return max(abs(self.smallest), abs(self.largest))

    @property
    def is_mask(self) -> bool:
        """Whether Inf and zeros are all there is, as in what is added to attention scores."""
        return self.infs > 0 and self.infs + self.zeros == self.elements


class TensorNumbers:
    """The numbers in every tensor of a record; none for what is not of floats."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._nans = facts.record.value_stats["nans"].tolist().__getitem__
        self._infs = facts.record.value_stats["infs"].tolist().__getitem__

    def of(self, tensor: int, op: int = 0) -> Numbers | None:
        """Return what was in a tensor when an op was called."""
        row, stats = self._row(tensor, op), self._facts.record.value_stats
        if row < 0:
            return None
        elements, zeros = int(stats["elements"][row]), int(stats["zeros"][row])
        smallest, largest = (float(bounds[row]) for bounds in self._bounds)
        return Numbers(elements, zeros, self._nans(row), self._infs(row), smallest, largest)

    def has_nan(self, tensor: int, op: int = 0) -> bool:
        """Tell whether a tensor had NaN when an op was called."""
        row = self._row(tensor, op)
        return row >= 0 and self._nans(row) > 0

    def has_inf(self, tensor: int, op: int = 0) -> bool:
        """Tell whether a tensor had Inf when an op was called."""
        row = self._row(tensor, op)
        return row >= 0 and self._infs(row) > 0

    def _row(self, tensor: int, op: int) -> int:
        tensor = self._sources[tensor]
        rows = self._rows(tensor)
        if len(rows) < 2:
            return rows[0] if rows else -1
        # Each write outside of any op has its own row: take the row that was valid at ``op``.
        return rows[min(bisect_right(self._overwritten.get(tensor, []), op), len(rows) - 1)]

    @cached_property
    def _bounds(self) -> tuple[npt.NDArray[np.float32], ...]:
        stats = self._facts.record.value_stats
        return tuple(from_bits(stats[name]) for name in ("smallest", "largest"))

    @cached_property
    def bad_tensors(self) -> list[int]:
        """The tensors that had NaN or Inf at any time, in order."""
        stats = self._facts.record.value_stats
        bad = stats["tensor"][with_bad_numbers(stats)]
        found: list[int] = np.flatnonzero(np.isin(self._sources, bad)).tolist()
        return found

    def source(self, tensor: int) -> int:
        """Return the tensor whose values a detached one shares."""
        return self._sources[tensor]

    @cached_property
    def _sources(self) -> list[int]:
        detached_from = self._facts.record.tensors["detached_from"]
        has_rows = np.zeros(len(detached_from), np.bool_)
        has_rows[self._looked_at[self._looked_at >= 0]] = True
        sources: list[int] = nearest_marked(detached_from, has_rows | (detached_from < 0)).tolist()
        return sources

    @cached_property
    def _rows(self) -> Rows:
        looked_at = self._looked_at
        return rows_by(looked_at, np.arange(len(looked_at)), len(self._facts.record.tensors))

    @cached_property
    def _looked_at(self) -> Keys:
        """The tensor of each row; -1 for what ops made for themselves and no other op read."""
        record = self._facts.record
        uses, tensors = record.uses, record.value_stats["tensor"]
        ops = self._facts.is_named([one for one in record.strings if _has_scratch(one)])
        is_second = (uses["role"] == _OUTPUT) & (uses["slot"] > 0) & ops[uses["op"]]
        read = uses["tensor"][uses["role"] == _INPUT]
        scratch = np.setdiff1d(uses["tensor"][is_second], read)
        return np.where(np.isin(tensors, scratch), -1, tensors)

    @cached_property
    def _overwritten(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for event in self._facts.events("overwritten"):
            found.setdefault(event.tensor, []).append(event.ops_before)
        return found


def _has_scratch(op_name: str) -> bool:
    return _WITH_SCRATCH.search(op_name) is not None
