"""Leaks: lines of code whose living memory grows from step to step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.dataflow import feeds_itself
from paddle_lab.analysis.memory.allocations import AllocationTable
from paddle_lab.analysis.memory.attribution import Attribution
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.analysis.tables.columns import Values
from paddle_lab.analysis.tables.data_frames import Framed, attributes
from paddle_lab.analysis.tables.rows import RowList
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, Reported, header
from paddle_lab.trace.trees import taken
from paddle_lab.words import say


@dataclass(frozen=True)
class LineGrowth:
    """The memory that ops on one line allocated, and that grew from step to step."""

    frame: Frame | None
    """The first frame on the line, None if the line is unknown."""
    bytes_per_step: float
    total_bytes: int
    """The growth from the first compared step to the last one."""
    steps_grown: int
    """After how many steps more bytes were alive than after the previous step."""
    steps_shrunk: int
    allocations: AllocationTable = field(repr=False)
    """The line's blocks of the compared steps that were alive after the last one, largest first."""

    @property
    def where(self) -> str:
        """``"Cell 4, line 7"``; ``""`` if the line is unknown."""
        return self.frame.where if self.frame else ""

    @property
    def ops(self) -> list[str]:
        """The names of at most three ops, those that allocated most of these bytes."""
        named = self.allocations.bytes_by_name(lambda block: block.label if block.op else "", 1000)
        return [name for name, _ in named[:3]]


class Growth(Reported, Framed, RowList[LineGrowth]):
    """Lines whose living memory grew over the steps of a trace, the fastest growth first.

    Parameters
    ----------
    lines
        The lines, the fastest growth first.
    step_count
        How many steps ended in the trace.
    compared_count
        How many of these steps are compared: all but the first, whose allocations often stay.
    bytes_per_step
        Growth of all memory of the device, from all lines.
    note
        What a step is, if it is not that of an optimizer.
    """

    def __init__(
        self,
        lines: Sequence[LineGrowth],
        *,
        step_count: int,
        compared_count: int,
        bytes_per_step: float,
        note: str = "",
    ) -> None:
        super().__init__(lines)
        self.step_count = step_count
        self.compared_count = compared_count
        self.bytes_per_step = bytes_per_step
        self.note = note

    def _columns(self) -> dict[str, Values]:
        names = ("bytes_per_step", "total_bytes", "steps_grown", "steps_shrunk")
        return {
            "file": [line.frame.file if line.frame else "" for line in self],
            "line": [line.frame.line if line.frame else 0 for line in self],
            **attributes(self, names),
            "blocks": [len(line.allocations) for line in self],
        }

    def _report(self) -> Report:
        steps = self.compared_count - 1
        if steps < 2:
            return Report(say("memory.growth.too_few", n=self.step_count))
        if not len(self):
            return Report(say("memory.growth.none", steps=steps) + self.note)
        rows = [
            (
                _signed(line.bytes_per_step),
                size_text(line.total_bytes),
                say("memory.growth.of", n=line.steps_grown, all=steps),
                line.where or say("memory.growth.no_line"),
                line.frame.text if line.frame else "",
                ", ".join(line.ops),
            )
            for line in self[:ROWS_SHOWN]
        ]
        size = _signed(self.bytes_per_step)
        title = say("memory.growth.lines", n=len(self), steps=steps, size=size) + self.note
        names = header("memory", "a_step", "in_all", "grew_in", "line", "code", "ops")
        return Report(title, names, rows, numbers=(0, 1, 2), row_count=len(self))


def growth(attribution: Attribution, keys: npt.NDArray[Any]) -> Growth:
    """Return the lines whose living memory grew from step to step.

    The living memory of each line is compared at the ends of steps. The first step is not compared,
    because it makes gradients, optimizer states and caches that stay. A line is returned if one of
    its ops has more living memory in the later half of the steps than in the earlier half, and if
    this memory grew at least twice, once in the later half. So a single late block is no leak, and
    neither is a full cache. Larger batches are no leak either: the number of blocks must grow, or
    each block must be computed from the previous one.

    Parameters
    ----------
    attribution
        The owners of the blocks.
    keys
        The blocks of the place, int32, shape ``[blocks]``.
    """
    record = attribution.record
    step_ns = np.sort(record.steps["time_ns"])
    made = record.tables["optimizer_steps"]["scope"]
    is_joined = np.isin(made, record.ops["scope"]).sum() > len(step_ns)
    is_joined &= np.isin(record.steps["scope"], made).all()
    compared_ns = step_ns[1:]
    count = len(compared_ns)
    if count < 3:
        return Growth([], step_count=len(step_ns), compared_count=count, bytes_per_step=0.0)
    blocks = record.allocations
    start, end = blocks["start_ns"][keys], blocks["end_ns"][keys]
    # A block is alive after the compared steps ``s`` with ``first <= s < last``.
    first = np.searchsorted(compared_ns, start, side="left")
    last = np.where(end < 0, count, np.searchsorted(compared_ns, end, side="left"))
    survives = np.flatnonzero(first < last)
    kept, first, last = keys[survives], first[survives], last[survives]
    size = blocks["bytes"][kept]
    # Compare each op of a line on its own, to tell leaks from memory that only lives long.
    line_of_block = attribution.lines[kept]
    op_of_block = blocks["op"][kept]
    op_name, in_backward = taken(record.ops["name"], op_of_block), blocks["grad_node"][kept] >= 0
    sources = np.stack([line_of_block, op_name, in_backward], axis=1)
    sources, source = np.unique(sources, axis=0, return_inverse=True)
    source = source.ravel()
    alive_bytes, alive_blocks = (
        _alive_after(source, first, last, amounts, (len(sources), count))
        for amounts in (size, np.ones_like(size))
    )
    leaks = _rises(alive_bytes)
    for row in np.flatnonzero(leaks & ~_rises(alive_blocks)).tolist():
        leaks[row] = feeds_itself(record, op_of_block[source == row])

    is_left = (first > 0) & (last == count) & leaks[source]
    found = []
    for line in np.unique(sources[leaks, 0]).tolist():
        of_line = alive_bytes[leaks & (sources[:, 0] == line)].sum(axis=0)
        change = np.diff(of_line)
        left = AllocationTable(attribution, kept[is_left & (line_of_block == line)])
        found.append(
            LineGrowth(
                frame=Frame(record, line) if line >= 0 else None,
                bytes_per_step=_per_step(of_line),
                total_bytes=int(of_line[-1] - of_line[0]),
                steps_grown=int((change > 0).sum()),
                steps_shrunk=int((change < 0).sum()),
                allocations=left.largest_first(),
            )
        )
    found.sort(key=lambda line: -line.bytes_per_step)
    return Growth(
        found,
        step_count=len(step_ns),
        compared_count=count,
        bytes_per_step=_per_step(alive_bytes.sum(axis=0)),
        note=say("memory.growth.iterations") if is_joined else "",
    )


def _alive_after(
    source: npt.NDArray[Any],
    first: npt.NDArray[Any],
    last: npt.NDArray[Any],
    amounts: npt.NDArray[Any],
    shape: tuple[int, int],
) -> npt.NDArray[np.int64]:
    """Return how much of each source is alive after each step, int64, shape ``[sources, steps]``.

    Parameters
    ----------
    source, first, last, amounts
        For each block: its source, the range of steps in which it is alive, and its amount.
    """
    sources, steps = shape
    change = np.zeros(sources * (steps + 1), np.int64)
    np.add.at(change, source * (steps + 1) + first, amounts)
    np.add.at(change, source * (steps + 1) + last, -amounts)
    alive: npt.NDArray[np.int64] = np.cumsum(change.reshape(-1, steps + 1), axis=1)[:, :steps]
    return alive


def _rises(alive_bytes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which rows grow from step to step, bool, shape ``[rows]``.

    If two optimizers step alternately, memory rises and falls between their steps. So both the
    minimum and the maximum of a row must grow.
    """
    half = alive_bytes.shape[1] // 2
    early, late = alive_bytes[:, :half], alive_bytes[:, -half:]
    rises = (late.min(axis=1) > early.min(axis=1)) & (late.max(axis=1) > early.max(axis=1))
    change = np.diff(alive_bytes, axis=1)
    grown, shrunk = (change > 0).sum(axis=1), (change < 0).sum(axis=1)
    goes_on = (change[:, -half:] > 0).any(axis=1)
    risen: npt.NDArray[np.bool_] = rises & goes_on & (grown >= 2) & (grown > shrunk)
    return risen


def _per_step(alive_bytes: npt.NDArray[np.int64]) -> float:
    """Return the growth per step: the difference between the means of the two halves, per step."""
    count = len(alive_bytes)
    half = count // 2
    return float(alive_bytes[-half:].mean() - alive_bytes[:half].mean()) / (count - half)


def _signed(size_bytes: float) -> str:
    return ("+" if size_bytes > 0 else "") + size_text(size_bytes)
