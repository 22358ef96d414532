"""The memory at a moment, divided by op, layer, line or kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.memory.allocations import AllocationTable
from paddle_lab.analysis.memory.attribution import Attribution
from paddle_lab.analysis.memory.sizes import moment_text, size_text
from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.analysis.tables.columns import Values
from paddle_lab.analysis.tables.data_frames import Framed, attributes
from paddle_lab.analysis.tables.ops import Op
from paddle_lab.analysis.tables.rows import RowList
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, Reported, header
from paddle_lab.trace.schema import ALLOCATION_KINDS
from paddle_lab.trace.trees import Keys, csr
from paddle_lab.words import say

Grouping = Literal["op", "layer", "line", "kind"]

UNSEEN = "before the trace, not used in it"
"""The label of memory that belongs to no recorded block."""
_FROM_BEFORE = "before the trace"
_OUTSIDE = "outside"
_NOBODY, _BEFORE = -1, -2
"""Groups of blocks without an owner: allocated during the trace, and before it."""


@dataclass(frozen=True)
class Share:
    """The blocks of one op, layer, line or kind that were alive at a moment."""

    label: str
    bytes: int
    share: float
    """Part of all memory allocated at that moment, 0 to 1."""
    blocks: AllocationTable = field(repr=False)
    """The blocks, by start; empty for memory that the trace knows only as a sum."""
    op: Op | None = None
    """The op, if memory is divided by op."""
    frame: Frame | None = None
    """The user's frame, if memory is divided by op or by line."""

    @property
    def count(self) -> int:
        """The number of blocks."""
        return len(self.blocks)

    @property
    def allocations(self) -> AllocationTable:
        """The blocks, the largest first."""
        return self.blocks.largest_first()


class Breakdown(Reported, Framed, RowList[Share]):
    """The shares of the memory allocated at a moment, the largest first. They add up to all of it.

    Parameters
    ----------
    shares
        The shares, the largest first.
    grouping
        ``"op"``, ``"layer"``, ``"line"`` or ``"kind"``.
    time_ns
        The moment.
    """

    def __init__(self, shares: Sequence[Share], grouping: Grouping, time_ns: int) -> None:
        super().__init__(shares)
        self.grouping = grouping
        self.time_ns = time_ns

    @property
    def total_bytes(self) -> int:
        """The bytes allocated at that moment."""
        return sum(share.bytes for share in self)

    def said(self, share: Share) -> str:
        """Return a share's label in the chosen language. Names are not translated."""
        if share.label == UNSEEN:
            return say("memory.before_unused")
        if share.label == _FROM_BEFORE:
            return say("memory.before")
        if share.label == f"{_OUTSIDE} {self.grouping}s":
            return say(f"memory.outside.{self.grouping}")
        if self.grouping == "kind":
            return say(f"page.memory_kind.{share.label}")
        return share.label

    def _columns(self) -> dict[str, Values]:
        columns = attributes(self, ("label", "bytes", "share", "count"))
        columns = {self.grouping: columns.pop("label"), **columns}
        if self.grouping == "op":
            columns["op_key"] = [share.op.key if share.op else None for share in self]
        return columns

    def _cells(self, share: Share) -> tuple[str, ...]:
        more: tuple[str, ...] = ()
        if self.grouping == "op":
            more = (share.op.layer, share.op.where) if share.op else ("", "")
        elif self.grouping == "line":
            more = (share.frame.text if share.frame else "",)
        count = f"{share.count:,}" if share.count else "–"
        return size_text(share.bytes), f"{share.share:.1%}", count, self.said(share), *more

    def _report(self) -> Report:
        size, moment = size_text(self.total_bytes), moment_text(self.time_ns)
        title = say(f"memory.breakdown.{self.grouping}", size=size, moment=moment)
        more = {"op": ("layer", "line"), "line": ("code",)}.get(self.grouping, ())
        names = header("memory", "size", "share", "blocks", self.grouping, *more)
        rows = [self._cells(share) for share in self[:ROWS_SHOWN]]
        return Report(title, names, rows, numbers=(0, 1, 2), row_count=len(self))


def breakdown(
    attribution: Attribution, alive: Keys, *, grouping: Grouping, time_ns: int, unseen_bytes: int
) -> Breakdown:
    """Divide the memory allocated at a moment.

    Parameters
    ----------
    attribution
        The owners of the blocks.
    alive
        Keys of the blocks that were alive, int32, shape ``[blocks]``.
    grouping
        What to divide by.
    time_ns
        The moment.
    unseen_bytes
        Bytes allocated at that moment that belong to no block known to the trace.
    """
    groups, row = np.unique(_groups(attribution, alive, grouping), return_inverse=True)
    starts, order = csr(row, len(groups))
    total = max(1, AllocationTable(attribution, alive).total_bytes + unseen_bytes)
    shares = []
    for first, end, group in zip(
        starts[:-1].tolist(), starts[1:].tolist(), groups.tolist(), strict=True
    ):
        blocks = AllocationTable(attribution, alive[order[first:end]])
        size = blocks.total_bytes
        label, op, frame = _described(attribution, grouping, group)
        shares.append(Share(label, size, size / total, blocks, op, frame))
    if unseen_bytes:
        none = AllocationTable(attribution, alive[:0])
        shares.append(Share(UNSEEN, unseen_bytes, unseen_bytes / total, none))
    shares.sort(key=lambda share: -share.bytes)
    return Breakdown(shares, grouping, time_ns)


def _groups(attribution: Attribution, alive: Keys, grouping: Grouping) -> npt.NDArray[Any]:
    """Return a group number for each block: the key of its op or frame, or a position in names."""
    blocks = attribution.record.allocations
    if grouping == "kind":
        return blocks["kind"][alive].astype(np.int32)
    if grouping == "layer":
        layers = attribution.layers[alive]
        owners = np.where(layers > 0, layers, _NOBODY)
    else:
        owners = blocks["op"][alive] if grouping == "op" else attribution.lines[alive]
    nobody = np.where(blocks["start_ns"][alive] < 0, _BEFORE, _NOBODY)
    return np.where(owners >= 0, owners, nobody)


def _described(
    attribution: Attribution, grouping: Grouping, group: int
) -> tuple[str, Op | None, Frame | None]:
    """Return the label of a group, and its op and frame if it has them."""
    if group < 0:
        return _FROM_BEFORE if group == _BEFORE else f"{_OUTSIDE} {grouping}s", None, None
    if grouping == "kind":
        return ALLOCATION_KINDS[group], None, None
    if grouping == "layer":
        return attribution.record.text(group), None, None
    if grouping == "op":
        op = attribution.ops[group]
        return op.name, op, op.frame
    frame = Frame(attribution.record, group)
    return frame.where, None, frame
