"""Hooks around the iterators of ``DataLoader``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from sys import _getframe
from time import perf_counter_ns
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.loader_samples import SAMPLES
from paddle_lab.capture.evidence.events.loader_waits import BEGUN, Begun
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.recorder.recorder import SINKS


def loader_patches(_paddle: Any) -> list[AttributePatch]:
    """Return the patches that measure the start of an iterator, and each wait for a batch."""
    SAMPLES.clear()
    return [
        AttributePatch(kind, name, around)
        for kind in (DOOR.loader_in_process, DOOR.loader_in_workers)
        for name, around in (("__init__", _around_init), ("__next__", _around_next))
    ]


def _around_init(make: Callable[..., None]) -> Callable[..., None]:
    @wraps(make)
    def wrapper(iterator: Any, *args: Any, **kwargs: Any) -> None:
        start_ns = perf_counter_ns()
        with SAMPLES.forking():
            make(iterator, *args, **kwargs)
        # Do not keep the loader. It may hold the iterator, and then neither would be freed. In
        # another version of Paddle, the loader may have other attributes.
        loader = args[0] if args else kwargs.get("loader")
        workers = getattr(loader, "num_workers", None)
        if isinstance(workers, int):
            is_shared = bool(getattr(loader, "use_shared_memory", False))
            BEGUN[iterator] = Begun(workers, is_shared, perf_counter_ns() - start_ns)

    return wrapper


def _around_next(take: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @wraps(take)
    def wrapper(iterator: Any) -> Any:
        # With workers, start no thread in this process, because the next epoch forks the process.
        is_here = isinstance(iterator, DOOR.loader_in_process)
        start_ns, is_end = perf_counter_ns(), True
        try:
            with SAMPLES.waiting() if is_here else nullcontext():
                batch = take(iterator)
            is_end = False
            return batch
        finally:
            _note(iterator, (start_ns, perf_counter_ns()), is_end=is_end)

    return wrapper


def _note(iterator: Any, times_ns: tuple[int, int], *, is_end: bool) -> None:
    begun, frame = BEGUN.get(iterator), _getframe(2)
    for recorder in SINKS.active if begun is not None else ():
        state = recorder.thread()
        stack = recorder.stacks.take(frame, state.anchor, state.anchor_stack)
        recorder.attempt(recorder.loaders.note, iterator, stack, times_ns, is_end=is_end)
