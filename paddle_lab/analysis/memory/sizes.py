"""Sizes and moments as text."""

from __future__ import annotations

from paddle_lab.words import say

SMALLEST_BYTES = 4096
"""Findings about less memory than this are not reported."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def size_text(size_bytes: float) -> str:
    """Return a size with a suitable unit, in steps of 1024: ``"1.5 MiB"``."""
    value = float(size_bytes)
    unit = 0
    # A value that would be rounded to 1024 gets the next unit.
    while abs(value) >= 1023.95 and unit < len(_UNITS) - 1:
        value /= 1024
        unit += 1
    if unit == 0:
        return f"{value:.0f} B"
    digits = 2 if abs(value) < 10 else 1
    return f"{value:.{digits}f} {_UNITS[unit]}"


def time_text(time_ns: int) -> str:
    """Return a time since the trace began: ``"12.345 ms"``."""
    return f"{time_ns / 1e6:,.3f} ms"


def moment_text(time_ns: int) -> str:
    """Return a moment of the trace: ``"at 12.345 ms"``."""
    return say("memory.before") if time_ns < 0 else say("memory.at", time=time_text(time_ns))
