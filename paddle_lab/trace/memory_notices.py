"""Notices that say that a trace did not record all of its memory."""

from __future__ import annotations

from collections.abc import Iterable

from paddle_lab.words import beginnings, say

_MISSING = ("memory.no_profiler", "memory.stepped_aside", "memory.profiler_failed")


def memory_notice(name: str, seconds: float = 0.0, *, fault: str = "") -> str:
    """Return the notice ``name`` of the table, such as ``"stepped_aside"``.

    Parameters
    ----------
    name
        The name of the notice.
    seconds
        How long memory was recorded, if the notice mentions it.
    fault
        The message of Paddle's profiler, if the notice mentions it.
    """
    values = {"fault": fault} if fault else {}
    return say(f"notices.memory.{name}", seconds=f"{seconds:.3f}", **values)


def tell_of_missing_memory(notices: Iterable[str]) -> bool:
    """Return whether a notice says that some of the trace's memory is missing."""
    begin = tuple(text for name in _MISSING for text in beginnings(f"notices.{name}"))
    return any(notice.startswith(begin) for notice in notices)
