"""Roots outside the notebook's variables: contexts, threads, tasks."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Iterator
from traceback import walk_stack
from types import CodeType

from paddle_lab.garbage import thread_frames
from paddle_lab.holders.frames import open_call
from paddle_lab.holders.roots import Root, is_user_file
from paddle_lab.words import say

_OURS = "paddle_lab"
_KERNELS = ("ipykernel", "jupyter_client", "tornado", "zmq")
"""Libraries whose objects and threads are the kernel's own."""
_SHARED = (asyncio.AbstractEventLoop, contextvars.Context)


def is_kernels(kind: type) -> bool:
    """Tell whether objects of a type lead to all objects of a kernel.

    A task leads to the event loop, a thread to its output streams, and these lead to every cell.
    """
    return issubclass(kind, _SHARED) or _is_of_kernel(type.__getattribute__(kind, "__module__"))


def _is_of_kernel(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in _KERNELS


def context_roots() -> Iterator[Root]:
    """Yield the context variables that are set in the current context."""
    for variable, value in contextvars.copy_context().items():
        yield Root("container", say("holders.context", name=variable.name), value)


def task_roots() -> Iterator[Root]:
    """Yield the tasks of the user's coroutines that wait in this thread's event loop."""
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:
        return
    for task in tasks:
        coroutine = task.get_coro()
        code = getattr(coroutine, "cr_code", None)
        if isinstance(code, CodeType) and is_user_file(code.co_filename):
            yield Root("container", say("holders.task", name=task.get_name()), coroutine)


def thread_roots() -> Iterator[Root]:
    """Yield the calls that run in other threads."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    own = threading.get_ident()
    for ident, top in thread_frames().items():
        name = names.get(ident, str(ident))
        if ident == own or name.startswith(_OURS):
            continue
        frames = [frame for frame, _ in walk_stack(top)]
        if not any(_is_of_kernel(frame.f_globals.get("__name__")) for frame in frames):
            for frame in frames:
                yield Root("container", say("holders.thread", name=name), open_call(frame))
