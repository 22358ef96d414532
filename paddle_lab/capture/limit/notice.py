"""Notices of a trace that does not keep all ops or allocations."""

from __future__ import annotations

from paddle_lab.capture.limit.step_choice import StepChoice
from paddle_lab.trace.limit import ALLOCATIONS_PER_OP, Limit
from paddle_lab.words import say

_MOST_NAMED = 6


def first_notice(kept: int, stopped_ns: int) -> str:
    """Return the notice of a trace that keeps its first ops.

    Parameters
    ----------
    kept
        How many ops the trace keeps.
    stopped_ns
        When recording stopped, in nanoseconds since the trace began.
    """
    seconds = f"{stopped_ns / 1e9:,.3f}"
    return say("notices.limit.first", kept=kept, seconds=seconds, more=_more(kept * 10))


def notice(ran: int, kept: int, steps: StepChoice | None, *, has_memory: bool) -> str:
    """Return a notice: how many ops ran, how many are kept, and how to keep more.

    Parameters
    ----------
    ran, kept
        How many ops were recorded, and how many of them are kept.
    steps
        The choice of steps, if the trace keeps steps.
    has_memory
        Whether the trace has allocations.
    """
    if steps is None:
        which = say("notices.limit.newest", kept=kept)
    elif steps.kept:
        which = say("notices.limit.steps", kept=kept, steps=_steps(steps))
    else:
        key = "newest_none_fits" if steps.ended else "newest_no_step"
        which = say(f"notices.limit.{key}", kept=kept)
    return say(
        "notices.limit.ran",
        ran=ran,
        which=which,
        earlier=say("notices.limit.earlier"),
        allocated=say("notices.limit.allocated") if has_memory else "",
        more=_more(ran),
    )


def blocks_notice(limit: Limit, *, kept: int, forgotten: int) -> str:
    """Return the notice of a trace that does not keep all allocations; empty if it keeps all.

    Parameters
    ----------
    kept, forgotten
        How many of the allocations made during the trace are kept, and how many are not.
    """
    if not forgotten:
        return ""
    made = kept + forgotten
    which = "blocks_of_steps" if limit.keep == "steps" else "blocks_freed_last"
    more = _more(-(-made // ALLOCATIONS_PER_OP))
    return say(f"notices.limit.{which}", made=made, kept=kept, more=more)


def _steps(steps: StepChoice) -> str:
    numbers = [f"{step + 1:,}" for step in steps.kept]
    if len(numbers) > _MOST_NAMED:
        numbers = [*numbers[:3], "…", *numbers[-2:]]
    values = {
        "kept": len(steps.kept),
        "ended": steps.ended,
        "numbers": say("lists.between").join(numbers),
    }
    if len(steps.kept) <= 2 or steps.every <= 1:
        which = say("notices.limit.of_steps", **values)
    else:
        which = say("notices.limit.of_steps_every", every=steps.every, **values)
    return say("notices.limit.cut", steps=which) if steps.is_cut else which


def _more(ops: int) -> str:
    """Return an option that keeps at least this many ops, rounded up to 1, 2 or 5 and zeros."""
    size = 10 ** (len(str(ops)) - 1)
    asked = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= ops)
    return say("notices.limit.asked", ops=f"{asked:_}", number=asked)
