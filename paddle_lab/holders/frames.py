"""The variables of calls, read so that none of them lives longer for it.

Before Python 3.13, ``f_locals`` of a call that goes on is a dictionary that the frame keeps: what
it shows stays alive until the call ends.
"""

from __future__ import annotations

import gc
import sys
import threading
from types import FrameType
from typing import Any, Final

_CO_OPTIMIZED: Final = 1
# Those of the frame, of the variable here, and of the question itself.
_REFERENCES_WHERE_NOBODY_ELSE_HAS_IT: Final = 3


class Call:
    """The variables of a call that has not ended.

    Parameters
    ----------
    function
        Its name.
    variables
        Its variables by name.
    snapshot
        Identity of the dictionary in which the frame showed them, which holds nothing of its own.
    """

    def __init__(self, function: str, variables: dict[str, Any], *, snapshot: int = 0) -> None:
        self.function = function
        self.variables = variables
        self.snapshot = snapshot


def ended_locals(frame: FrameType) -> dict[str, Any]:
    """Return the variables of a call that has ended; of others none.

    The collector sees nothing in the frame of a call that goes on, which tells them apart.
    """
    if not gc.get_referents(frame) or frame.f_locals is frame.f_globals:
        return {}
    return dict(frame.f_locals)


def open_call(frame: FrameType) -> Call:
    """Return a call that is suspended, or goes on in another thread, with its variables.

    Not for calls of a thread that a debugger or a profiler follows: Python may write back what it
    showed them.
    """
    code = frame.f_code
    is_followed = frame.f_trace or threading.gettrace() or threading.getprofile()
    if is_followed or not code.co_flags & _CO_OPTIMIZED:
        return Call(code.co_name, {})
    shown = frame.f_locals
    variables = dict(shown)
    if (
        sys.version_info < (3, 13)
        and sys.getrefcount(shown) <= _REFERENCES_WHERE_NOBODY_ELSE_HAS_IT
    ):
        # No caller kept the dict of locals(), so the frame may empty it.
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            shown.pop(name, None)
    return Call(code.co_name, variables, snapshot=id(shown))
