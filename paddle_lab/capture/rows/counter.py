"""Counts keys from 0."""

from __future__ import annotations

from itertools import count
from typing import Final

from paddle_lab.capture.native import native_twin

NEVER: Final = (1 << 63) - 1


@native_twin
class Counter:
    """Returns the next number at each call. Two threads never get the same number."""

    def __init__(self) -> None:
        self._take = count().__next__
        self.next = 0
        """How many numbers were returned."""
        self.alarm = NEVER
        """The number at which the call does some rare work, such as trimming the trace."""

    def __call__(self) -> int:
        """Return the next number."""
        number = self._take()
        self.next = number + 1
        return number
