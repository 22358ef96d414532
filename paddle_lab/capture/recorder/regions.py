"""Named regions of a traced cell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from sys import _getframe
from typing import Any

from paddle_lab.capture.recorder.recorder import REGION, SINKS
from paddle_lab.words import say


@contextmanager
def region(name: Any, log: int | None = None) -> Iterator[None]:
    """Mark the ops of a block as a region of every open trace. Without a trace it does nothing.

    Parameters
    ----------
    name
        The region's title in the graph.
    log
        The level of Paddle's log in the block and in its backward pass.
    """
    if not isinstance(name, str) or not name:
        raise TypeError(say("errors.region_name"))
    opened = []
    logs = ExitStack()
    for recorder in SINKS.active:
        state = recorder.thread()
        outer = state.scope
        opened.append((state, outer, recorder.open_scope(state, REGION, name, _getframe())))
        if log is not None and recorder.log_inside is not None:
            logs.enter_context(recorder.log_inside(log))
    try:
        with logs:
            yield
    finally:
        for state, outer, scope in opened:
            # Tasks that alternate in one thread may close their regions in any order.
            state.closed_regions[scope] = outer
            while state.scope in state.closed_regions:
                state.scope = state.closed_regions[state.scope]
