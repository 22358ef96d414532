"""Keys from 0 on."""

from __future__ import annotations

from itertools import count

from paddle_lab.capture.native import native_twin


@native_twin
class Counter:
    """Returns the next number at each call; no two threads get the same."""

    def __init__(self) -> None:
        self._next = count().__next__

    def __call__(self) -> int:
        """Return the next number."""
        return self._next()
