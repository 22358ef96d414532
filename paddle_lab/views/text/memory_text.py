"""A trace's memory in a few lines of text."""

from __future__ import annotations

from paddle_lab.analysis.memory.attribution import Attribution
from paddle_lab.analysis.memory.breakdown import Breakdown
from paddle_lab.analysis.memory.memory import Memory
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.trace.record import Record
from paddle_lab.words import say

_SHARES, _ADVICE = 5, 3


def memory_lines(record: Record) -> list[str]:
    """Return lines about the memory of a record with answer tables; none without memory."""
    if not len(record.allocations) and not len(record.memory_totals):
        return []
    memory = Memory(Attribution(record))
    lines = [say("memory.summary", line=memory.one_line())]
    lines += [f"  {_shares(part)}" for part in (memory.by_kind(), memory.by_line())]
    known = memory.fragmentation()
    if known.is_known:
        lines.append(f"  {known!r}")
    held = [
        f"{name or say('memory.held_by.nobody')} {size_text(holder.bytes)}"
        for name, holder in memory.holders().alike()[:_SHARES]
    ]
    if held:
        names = say("lists.between").join(held)
        lines.append(f"  {say('memory.summary.held', names=names)}")
    if memory.out_of_memory is not None:
        lines += [f"  {sentence}" for sentence in memory.out_of_memory.advice[:_ADVICE]]
    elif leak := memory.leak:
        lines.append(f"  {leak}")
    return lines


def _shares(breakdown: Breakdown) -> str:
    largest = breakdown[:_SHARES]
    shares = " · ".join(f"{breakdown.said(share)} {share.share:.0%}" for share in largest)
    return say(f"memory.summary.at_peak.{breakdown.grouping}", shares=shares)
