"""Making way for a ``paddle.profiler`` of the user's: Paddle runs but one profiler at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch


def profiler_patches(step_aside: Callable[[], object]) -> list[AttributePatch]:
    """Return the patch that calls ``step_aside`` before the user's profiler is made."""
    return [DOOR.patch("profiler_of_users", lambda native: _StandIn(native, step_aside))]


class _StandIn:
    """Stands in for Paddle's ``_Profiler`` class where ``paddle.profiler`` looks it up."""

    def __init__(self, native: Any, step_aside: Callable[[], object]) -> None:
        self._native = native
        self._step_aside = step_aside

    def create(self, *args: Any) -> Any:
        """Make a profiler; ``None`` if there still is another."""
        self._step_aside()
        return self._native.create(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)
