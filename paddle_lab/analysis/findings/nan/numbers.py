"""What was in each tensor of a record, as checks ask for it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts import Facts
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
        self._record = facts.record
        self._facts = facts
        self._stats = facts.record.value_stats

    @cached_property
    def has_bad(self) -> bool:
        """Whether there is any NaN or Inf."""
        return bool(((self._stats["nans"] > 0) | (self._stats["infs"] > 0)).any())

    def of(self, tensor: int, op: int = 0) -> Numbers | None:
        """Return what was in a tensor when an op was called."""
        row = self._row(tensor, op)
        if row < 0:
            return None
        stats = self._stats
        counts = [int(stats[column][row]) for column in ("elements", "zeros", "nans", "infs")]
        bounds = [float(self._floats[column][row]) for column in ("smallest", "largest")]
        return Numbers(counts[0], counts[1], counts[2], counts[3], bounds[0], bounds[1])

    def has_nan(self, tensor: int, op: int = 0) -> bool:
        """Tell whether a tensor had NaN when an op was called."""
        row = self._row(tensor, op)
        return row >= 0 and bool(self._stats["nans"][row])

    def has_inf(self, tensor: int, op: int = 0) -> bool:
        """Tell whether a tensor had Inf when an op was called."""
        row = self._row(tensor, op)
        return row >= 0 and bool(self._stats["infs"][row])

    @cached_property
    def bad_tensors(self) -> list[int]:
        """The tensors that had NaN or Inf at any time, in order."""
        stats = self._stats
        bad = set(stats["tensor"][(stats["nans"] > 0) | (stats["infs"] > 0)].tolist())
        count = len(self._record.tensors)
        return [tensor for tensor in range(count) if self.source(tensor) in bad]

    def source(self, tensor: int) -> int:
        """Return the tensor whose values a detached one shares."""
        detached_from = self._record.tensors["detached_from"]
        while self._first[tensor] < 0 and detached_from[tensor] >= 0:
            tensor = int(detached_from[tensor])
        return tensor

    def _row(self, tensor: int, op: int) -> int:
        tensor = self.source(tensor)
        first, last = int(self._first[tensor]), int(self._last[tensor])
        if first == last:
            return first
        # A tensor that was written to by no op was looked at again then.
        return min(first + bisect_right(self._overwritten.get(tensor, []), op), last)

    @cached_property
    def _floats(self) -> dict[str, npt.NDArray[np.float32]]:
        return {name: from_bits(self._stats[name]) for name in ("smallest", "largest")}

    @cached_property
    def _first(self) -> npt.NDArray[np.int64]:
        rows = np.full(len(self._record.tensors), -1, np.int64)
        # Of several assignments to one place the last one holds.
        rows[self._stats["tensor"][::-1]] = np.arange(len(self._stats))[::-1]
        rows[self._scratch] = -1
        return rows

    @cached_property
    def _last(self) -> npt.NDArray[np.int64]:
        rows = np.full(len(self._record.tensors), -1, np.int64)
        rows[self._stats["tensor"]] = np.arange(len(self._stats))
        rows[self._scratch] = -1
        return rows

    @cached_property
    def _scratch(self) -> list[int]:
        """What ops made for themselves and no other op read."""
        record = self._record
        uses = record.uses
        known = {name for name in set(record.ops["name"].tolist())
                 if _WITH_SCRATCH.search(record.text(name))}  # fmt: skip
        ops = np.flatnonzero(np.isin(record.ops["name"], list(known)))
        is_second = (uses["role"] == _OUTPUT) & (uses["slot"] > 0) & np.isin(uses["op"], ops)
        read = set(uses["tensor"][uses["role"] == _INPUT].tolist())
        return [tensor for tensor in uses["tensor"][is_second].tolist() if tensor not in read]

    @cached_property
    def _overwritten(self) -> dict[int, list[int]]:
        events = self._record.events
        found: dict[int, list[int]] = {}
        for row in self._facts.events("overwritten"):
            tensor = int(events["tensor"][row])
            if tensor >= 0:
                found.setdefault(tensor, []).append(int(events["ops_before"][row]))
        return found
