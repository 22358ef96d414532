"""What a limited trace says of itself."""

from __future__ import annotations

from typing import NamedTuple

from paddle_lab.capture.limit.step_choice import StepsTold
from paddle_lab.trace.limit import ALLOCATIONS_PER_OP, Limit

_MOST_NAMED = 6
_EARLIER = " What other ops made is shown as data that was there already."
_ALLOCATED = " Allocations of other ops have no op."


class Kept(NamedTuple):
    """What a trace kept of a run that was longer than its limit."""

    limit: Limit
    ran: int
    """How many ops were recorded, those that were forgotten included."""
    kept: int
    stopped_ns: int
    """When recording stopped, since the trace began; -1 where it did not."""
    steps: StepsTold | None
    has_memory: bool


def notice(told: Kept) -> str:
    """Return the sentences for a trace's notices: what ran, what is kept, how to keep more."""
    allocated = _ALLOCATED if told.has_memory else ""
    if told.limit.keep == "first":
        return (
            f"The trace keeps the first {told.kept:,} ops: recording stopped "
            f"{told.stopped_ns / 1e9:,.3f} s after it began, and ops after that are not in it. "
            f"{_more(told.kept * 10)} keeps more; keep='newest' (--keep newest) keeps "
            "the last ops."
        )
    if told.steps is not None and told.steps.kept:
        return (
            f"{told.ran:,} ops ran, and the trace keeps {told.kept:,}: {_steps(told.steps)}."
            f"{_EARLIER}{allocated} {_more(told.ran)} keeps all."
        )
    why = ""
    if told.steps is not None:
        why = (
            ", as no training step that ended fits the limit"
            if told.steps.ended
            else ", as no training step ended: an optimizer's step() ends one, and "
            "paddle_lab.step()"
        )
    return (
        f"{told.ran:,} ops ran, and the trace keeps the newest {told.kept:,}{why}."
        f"{_EARLIER}{allocated} {_more(told.ran)} keeps all."
    )


def blocks_notice(limit: Limit, *, kept: int, forgotten: int) -> str:
    """Return the sentences for a trace that does not keep all allocations; empty if it does.

    Parameters
    ----------
    kept, forgotten
        How many of those made during the trace.
    """
    if not forgotten:
        return ""
    which = "those of its training steps" if limit.keep == "steps" else "those freed last"
    return (
        f"{kept + forgotten:,} allocations were made, and the trace keeps {kept:,}: {which}, and "
        "those that were never freed. The others are summed up, so that the total is as high as it "
        "was, and its peak when it was; what they were for is not told. "
        f"{_more(-(-(kept + forgotten) // ALLOCATIONS_PER_OP))} keeps all allocations."
    )


def _steps(steps: StepsTold) -> str:
    numbers = [f"{step + 1:,}" for step in steps.kept]
    if len(numbers) > _MOST_NAMED:
        numbers = [*numbers[:3], "…", *numbers[-2:]]
    how_many = f"{len(steps.kept):,} of {steps.ended:,} training steps"
    if len(steps.kept) > 2 and steps.every > 1:
        how_many += (
            f", every {steps.every}th and the newest"
            if steps.every > 2
            else (", every 2nd and the newest")
        )
    cut = ", the newest without its beginning" if steps.is_cut else ""
    return f"{how_many} ({', '.join(numbers)}){cut}"


def _more(ops: int) -> str:
    """Return how to ask for so many ops, rounded up to a number one writes."""
    size = 1
    while size < ops:
        for factor in (1, 2, 5):
            if size * factor >= ops:
                return _asked(size * factor)
        size *= 10
    return _asked(size)


def _asked(ops: int) -> str:
    return f"limit={ops:_} (--limit {ops})"
