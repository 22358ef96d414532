"""What a trace says where it could not record all of its memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

NO_PROFILER: Final = (
    "No memory is recorded: Paddle has one profiler at a time, and a paddle.profiler.Profiler was "
    "there already when the trace began. Stop it, `del` its variable, then trace again."
)
DEVICES_ALONE: Final = (
    "Memory of devices alone is recorded, and no grad nodes: another profiler was running."
)
STEPPED_ASIDE: Final = (
    "Memory is recorded for the first {seconds:.3f} s only: then a paddle.profiler was started, "
    "and Paddle runs but one profiler at a time."
)
STOPPED_AT_LIMIT: Final = (
    "Memory is recorded for the first {seconds:.3f} s only: then there were as many ops as the "
    "trace keeps."
)
_BEGINNINGS = tuple(text.partition("{")[0] for text in (NO_PROFILER, DEVICES_ALONE, STEPPED_ASIDE))


def tell_of_missing_memory(notices: Iterable[str]) -> bool:
    """Return whether a trace's notices say that a part of its memory is missing."""
    return any(notice.startswith(_BEGINNINGS) for notice in notices)
