"""Where a search for holders begins: variables, kept outputs, tracebacks, modules."""

from __future__ import annotations

import asyncio
import contextvars
import re
import sys
import sysconfig
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from traceback import walk_stack
from types import CodeType, ModuleType
from typing import Any, Literal

from paddle_lab.garbage import thread_frames
from paddle_lab.holders.frames import open_call
from paddle_lab.trace.schema import HOLDER_KINDS
from paddle_lab.words import say

RootKind = Literal["variable", "output", "traceback", "container"]
assert set(RootKind.__args__) <= set(HOLDER_KINDS)  # type: ignore[attr-defined]

# The names under which IPython keeps results of cells.
OUTPUTS_NAME = re.compile(r"_{1,3}|_\d+")
_IPYTHONS_NAME = re.compile(r"_{1,3}|_\d+|_oh|Out|_i{1,3}|_i\d+|_ih|In|_dh")


@dataclass(frozen=True)
class Root:
    """A name of the user or of Python, and its object.

    Parameters
    ----------
    kind
        The kind of holder. ``"variable"`` applies only to the object itself. Objects inside it have
        the kind ``"container"``.
    name
        The object as text: ``"loss"``, ``"Out[5]"``, ``"last traceback"``.
    value
        The object.
    is_namespace
        Whether the value is a module's dictionary, whose keys are attributes.
    remark
        Text that follows each path from this root: ``" (which no name leads to)"``.
    """

    kind: RootKind
    name: str
    value: Any
    is_namespace: bool = False
    remark: str = ""

    @property
    def label(self) -> str:
        """The name and the remark."""
        return self.name + self.remark


def variable_roots(
    namespace: Mapping[str, Any], hidden: Mapping[str, Any] | None = None
) -> list[Root]:
    """Return the variables of a notebook or a module, except IPython's own.

    If the user assigned a value to one of IPython's names, as in ``for _ in range(3)``, the name
    counts as a variable of the user.

    Parameters
    ----------
    namespace
        The global variables.
    hidden
        The variables that IPython set, with their values. By default all variables with IPython's
        names are omitted.
    """
    kept = namespace if hidden is None else hidden
    return [
        Root("variable", name, value)
        for name, value in list(namespace.items())
        if not (_IPYTHONS_NAME.fullmatch(name) and name in kept and kept[name] is value)
        and not issubclass(type(value), ModuleType)
    ]


def output_roots(namespace: Mapping[str, Any], hidden: Mapping[str, Any]) -> list[Root]:
    """Return the outputs of cells that IPython keeps: ``Out[5]``, then ``_``, ``_5`` and so on.

    After ``%reset out`` IPython still keeps these values in ``hidden``.
    """
    kept: Mapping[int, Any] = namespace.get("_oh", {})
    roots = [Root("output", f"Out[{number}]", value) for number, value in list(kept.items())]
    names = [name for name in list(hidden) if OUTPUTS_NAME.fullmatch(name)]
    return roots + [Root("output", name, hidden[name]) for name in names]


def traceback_roots(*others: Any) -> list[Root]:
    """Return the last exception, which Python keeps for debuggers, and ``others``."""
    kept = [getattr(sys, name, None) for name in ("last_exc", "last_value", "last_traceback")]
    return [
        Root("traceback", say("memory.held_by.last_traceback"), value)
        for value in (*kept, *others)
        if value is not None
    ]


def module_roots(*, libraries: bool) -> Iterator[Root]:
    """Yield the imported modules of the user or, with ``libraries``, those of libraries."""
    main = sys.modules.get("__main__")
    for name, module in sorted(sys.modules.items()):
        if (
            issubclass(type(module), ModuleType)
            and module is not main
            and is_user_module(module) is not libraries
        ):
            yield Root("container", name, vars(module), is_namespace=True)


def is_user_module(module: ModuleType) -> bool:
    """Tell whether a module belongs to the user: not to Python, and not to an installed package."""
    file = vars(module).get("__file__")
    return isinstance(file, str) and is_user_file(file)


def is_user_file(file: str) -> bool:
    """Tell whether a file belongs to the user: not to Python, and not to an installed package."""
    return not file.startswith(_INSTALLED)


_INSTALLED = tuple(
    {
        path
        for name in ("stdlib", "platstdlib", "purelib", "platlib")
        if (path := sysconfig.get_path(name))
    }
)


_OURS = "paddle_lab"
_KERNELS = ("ipykernel", "jupyter_client", "tornado", "zmq")
"""Libraries whose objects and threads belong to the kernel."""
_SHARED = (asyncio.AbstractEventLoop, contextvars.Context)


def is_kernels(kind: type) -> bool:
    """Tell whether a type belongs to the kernel, whose objects lead to everything in the kernel.

    For example, a task refers to the event loop, and a thread to its output streams. Both lead to
    every cell.
    """
    return issubclass(kind, _SHARED) or _is_of_kernel(type.__getattribute__(kind, "__module__"))


def _is_of_kernel(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in _KERNELS


def context_roots() -> Iterator[Root]:
    """Yield the context variables that are set in the current context."""
    for variable, value in contextvars.copy_context().items():
        yield Root("container", say("memory.held_by.context", name=variable.name), value)


def task_roots() -> Iterator[Root]:
    """Yield the user's tasks that wait in the event loop of this thread."""
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:
        return
    for task in tasks:
        coroutine = task.get_coro()
        code = getattr(coroutine, "cr_code", None)
        if isinstance(code, CodeType) and is_user_file(code.co_filename):
            yield Root("container", say("memory.held_by.task", name=task.get_name()), coroutine)


def thread_roots() -> Iterator[Root]:
    """Yield the running calls of other threads."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    own = threading.get_ident()
    for ident, top in thread_frames().items():
        name = names.get(ident, str(ident))
        if ident == own or name.startswith(_OURS):
            continue
        frames = [frame for frame, _ in walk_stack(top)]
        if not any(_is_of_kernel(frame.f_globals.get("__name__")) for frame in frames):
            for frame in frames:
                yield Root("container", say("memory.held_by.thread", name=name), open_call(frame))
