"""Pauses Python's garbage collector where a collection would take long or never end."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the collection of cycles for a block that makes many objects and no cycles.

    With 20,000 ops, collections would take a third of the time from the cell's end to the graph:
    they visit every living object and find none to free.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def thread_frames() -> dict[int, FrameType]:
    """Return the innermost frame of each thread, by the thread's id.

    Before Python 3.12 a collection that begins in here may never end (CPython's issue 106883).
    """
    if sys.version_info >= (3, 12):
        return sys._current_frames()  # noqa: SLF001  (CPython's documented way)
    with collection_paused():
        return sys._current_frames()  # noqa: SLF001
