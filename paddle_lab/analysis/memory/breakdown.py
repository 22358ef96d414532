"""Memory in one moment, divided by op, layer, line or kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.trees import Keys
from paddle_lab.analysis.memory.allocation_table import AllocationTable
from paddle_lab.analysis.memory.attribution import Attribution
from paddle_lab.analysis.memory.sizes import moment_text, size_text
from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.analysis.tables.op import Op
from paddle_lab.analysis.tables.pandas_frame import pandas_module
from paddle_lab.analysis.tables.text_table import html_table, text_table
from paddle_lab.trace.schema import ALLOCATION_KINDS
from paddle_lab.words import say

if TYPE_CHECKING:
    import pandas

Grouping = Literal["op", "layer", "line", "kind"]

UNSEEN = "before the trace, not used in it"
"""The label of what no block tells of."""
_FROM_BEFORE = "before the trace"
_OUTSIDE = "outside"
_ROWS_SHOWN = 20


@dataclass(frozen=True)
class Share:
    """The blocks of one op, layer, line or kind that were alive in a moment."""

    label: str
    bytes: int
    share: float
    """Part of all that was allocated in that moment, 0 to 1."""
    blocks: AllocationTable = field(repr=False)
    """The blocks, by start; none for memory that the trace knows only as a sum."""
    op: Op | None = None
    """The op, where the division is by op."""
    frame: Frame | None = None
    """The user's frame, where the division is by op or by line."""

    @property
    def count(self) -> int:
        """Number of blocks."""
        return len(self.blocks)

    @property
    def allocations(self) -> AllocationTable:
        """The blocks, largest first."""
        return self.blocks.largest_first()


class Breakdown(Sequence[Share]):
    """The shares of what was allocated in a moment, largest first; their sum is all of it.

    Parameters
    ----------
    shares
        Largest first.
    grouping
        What they are divided by.
    time_ns
        The moment.
    """

    def __init__(self, shares: Sequence[Share], grouping: Grouping, time_ns: int) -> None:
        self._shares = shares
        self.grouping = grouping
        self.time_ns = time_ns

    @property
    def total_bytes(self) -> int:
        """All that was allocated in the moment."""
        return sum(share.bytes for share in self._shares)

    def __len__(self) -> int:
        return len(self._shares)

    @overload
    def __getitem__(self, index: int) -> Share: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Share]: ...
    def __getitem__(self, index: int | slice) -> Share | Sequence[Share]:
        return self._shares[index]

    def said(self, share: Share) -> str:
        """Return a share's label in the language that is spoken; names stay as they are."""
        if share.label == UNSEEN:
            return say("memory.before_unused")
        if share.label == _FROM_BEFORE:
            return say("memory.before")
        if share.label == f"{_OUTSIDE} {self.grouping}s":
            return say(f"memory.outside.{self.grouping}")
        if self.grouping == "kind":
            return say(f"page.memory_kind.{share.label}")
        return share.label

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with one row a share.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = pandas_module("to_pandas()")
        rows = {
            self.grouping: [share.label for share in self],
            "bytes": [share.bytes for share in self],
            "share": [share.share for share in self],
            "count": [share.count for share in self],
        }
        if self.grouping == "op":
            rows["op_key"] = [share.op.key if share.op else None for share in self]
        return pandas.DataFrame(rows)

    def _header(self) -> tuple[str, ...]:
        more = {"op": ("layer", "line"), "line": ("code",)}.get(self.grouping, ())
        names = ("size", "share", "blocks", self.grouping, *more)
        return tuple(say(f"memory.column.{name}") for name in names)

    def _rows(self) -> list[tuple[str, ...]]:
        rows = []
        for share in self._shares[:_ROWS_SHOWN]:
            more: tuple[str, ...] = ()
            if self.grouping == "op":
                more = (share.op.layer, share.op.where) if share.op else ("", "")
            elif self.grouping == "line":
                more = (share.frame.text if share.frame else "",)
            count = f"{share.count:,}" if share.count else "–"
            said = self.said(share)
            rows.append((size_text(share.bytes), f"{share.share:.1%}", count, said, *more))
        return rows

    def _title(self) -> str:
        size, moment = size_text(self.total_bytes), moment_text(self.time_ns)
        return say(f"memory.breakdown.{self.grouping}", size=size, moment=moment)

    def _more(self) -> str:
        more = len(self) - _ROWS_SHOWN
        return say("memory.more", n=more) if more > 0 else ""

    def __repr__(self) -> str:
        table = text_table(self._header(), self._rows(), numbers=(0, 1, 2))
        return "\n".join(part for part in (self._title(), table, self._more()) if part)

    def _repr_html_(self) -> str:
        note = f"<p>{self._more()}</p>" if self._more() else ""
        table = html_table(self._header(), self._rows(), numbers=(0, 1, 2))
        return f"<p>{self._title()}</p>{table}{note}"


def breakdown(
    attribution: Attribution, alive: Keys, *, grouping: Grouping, time_ns: int, unseen_bytes: int
) -> Breakdown:
    """Divide what was allocated in a moment.

    Parameters
    ----------
    attribution
        Whose the blocks are.
    alive
        Keys of the blocks that were alive, int32, shape ``[blocks]``.
    grouping
        What to divide by.
    time_ns
        The moment.
    unseen_bytes
        Allocated in that moment, but by no block that the trace knows.
    """
    groups, describe = _groups(attribution, alive, grouping)
    size = attribution.record.allocations["bytes"][alive]
    # numpy sorts small integers by their digits, many times faster than by comparing them.
    is_small = len(groups) and groups.min() >= -(1 << 15) and groups.max() < 1 << 15
    order = np.argsort(groups.astype(np.int16) if is_small else groups, kind="stable")
    ordered, keys = groups[order], alive[order]
    firsts = np.flatnonzero(np.append(True, np.diff(ordered) != 0)[: len(ordered)])
    sums = np.add.reduceat(size[order], firsts) if len(firsts) else firsts
    ends = np.append(firsts[1:], len(keys))[: len(firsts)]
    total = max(1, int(size.sum()) + unseen_bytes)
    shares = []
    for first, end, group_bytes in zip(firsts.tolist(), ends.tolist(), sums.tolist(), strict=True):
        label, op, frame = describe(int(ordered[first]))
        blocks = AllocationTable(attribution, keys[first:end])
        shares.append(Share(label, group_bytes, group_bytes / total, blocks, op, frame))
    if unseen_bytes:
        none = AllocationTable(attribution, alive[:0])
        shares.append(Share(UNSEEN, unseen_bytes, unseen_bytes / total, none))
    shares.sort(key=lambda share: -share.bytes)
    return Breakdown(shares, grouping, time_ns)


Describe = Callable[[int], tuple[str, Op | None, Frame | None]]

_NOBODY, _BEFORE = -1, -2
"""Groups of blocks without an owner: allocated in the trace, and before it."""


def _groups(
    attribution: Attribution, alive: Keys, grouping: Grouping
) -> tuple[npt.NDArray[Any], Describe]:
    """Return each block's group number, and what tells a group's label, op and frame."""
    blocks = attribution.record.allocations

    def describe(group: int) -> tuple[str, Op | None, Frame | None]:
        if group < 0:
            return _FROM_BEFORE if group == _BEFORE else f"{_OUTSIDE} {grouping}s", None, None
        if grouping == "kind":
            return ALLOCATION_KINDS[group], None, None
        if grouping == "layer":
            return attribution.layer_names[group], None, None
        if grouping == "op":
            op = attribution.ops[group]
            return op.name, op, op.frame
        frame = Frame(attribution.record, group)
        return frame.where, None, frame

    if grouping == "kind":
        return blocks["kind"][alive].astype(np.int32), describe
    if grouping == "layer":
        layers = attribution.layers[alive]
        owners = np.where(layers > 0, layers, _NOBODY)
    else:
        owners = blocks["op"][alive] if grouping == "op" else attribution.lines[alive]
    nobody = np.where(blocks["start_ns"][alive] < 0, _BEFORE, _NOBODY)
    return np.where(owners >= 0, owners, nobody), describe
