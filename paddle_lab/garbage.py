"""Python's garbage collector, out of the way while a large trace is put together."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the collection of cycles for a block that makes many objects and no cycles.

    Of 20,000 ops it would take a third of the time from the cell's end to the graph, for nothing:
    it visits every object that lives, and finds none to free.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
