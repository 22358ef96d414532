"""Reads the variables of calls without keeping them alive.

Before Python 3.13, ``f_locals`` of a running call returns a dictionary that the frame keeps. This
dictionary keeps the values alive until the call ends.
"""

from __future__ import annotations

import gc
import sys
import threading
from dataclasses import dataclass
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType
from typing import Any, Final

GENERATORS: Final = (GeneratorType, CoroutineType, AsyncGeneratorType)
_CO_OPTIMIZED: Final = 1
# There are three references: by the frame, by the local variable, and by getrefcount's argument.
_OUR_REFERENCES: Final = 3


@dataclass(frozen=True, eq=False)
class Call:
    """The variables of a call.

    Parameters
    ----------
    function
        The function's name.
    variables
        The variables by name.
    snapshot
        The id of the dictionary that ``f_locals`` returned. This dictionary does not count as a
        holder.
    """

    function: str
    variables: dict[str, Any]
    snapshot: int = 0


CALLS: Final = (FrameType, Call, *GENERATORS)
"""Types of the objects that hold a call's variables."""


def call_of(holder: Any) -> Call:
    """Return the call of an object of one of the types in :data:`CALLS`.

    The call has variables if it has ended or is a suspended generator. The garbage collector does
    not report the references of a running call's frame.
    """
    kind = type(holder)
    if issubclass(kind, Call):
        call: Call = holder
        return call
    if issubclass(kind, FrameType):
        has_ended = gc.get_referents(holder) and holder.f_locals is not holder.f_globals
        return Call(holder.f_code.co_name, dict(holder.f_locals) if has_ended else {})
    for name in ("gi", "cr", "ag"):
        frame = getattr(holder, f"{name}_frame", None)
        if frame is not None and not getattr(holder, f"{name}_running"):
            return open_call(frame)
    return Call(holder.__name__, {})


def open_call(frame: FrameType) -> Call:
    """Return a suspended call, or a running call of another thread, with its variables.

    If a debugger or a profiler follows the thread, no variables are read, because Python might then
    write old values back.
    """
    code = frame.f_code
    # A trace of ours marks the calls that it has seen in the same attribute.
    tracer = not type(frame.f_trace).__module__.startswith("paddle_lab.") and frame.f_trace
    is_followed = tracer or threading.gettrace() or threading.getprofile()
    if is_followed or not code.co_flags & _CO_OPTIMIZED:
        return Call(code.co_name, {})
    shown = frame.f_locals
    variables = dict(shown)
    if sys.version_info < (3, 13) and sys.getrefcount(shown) <= _OUR_REFERENCES:
        # Nobody else has the dictionary that ``f_locals`` returned, so it can be emptied.
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            shown.pop(name, None)
    return Call(code.co_name, variables, id(shown))
