"""Finds the lines of the user's code for programs that SOT compiles.

SOT reads bytecode and builds the program later. So the stack of an op ends at the call of the whole
function. SOT knows the line of each statement, but writes it only to its log. The patches here make
SOT report the line of each statement and of the calls around it. They change nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from paddle_lab.capture.breaks.spots import line_of
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch

_NOTING: Final = 3
"""The log level from which on SOT notes lines."""
_LOCK: Final = threading.Lock()
_USERS: Final[list[None]] = []
_PATCHES: Final[list[AttributePatch]] = []
_NOTED: Final[set[int]] = set()
"""The ops that have got their lines."""


@contextmanager
def sot_lines() -> Iterator[None]:
    """Make SOT report the lines of the code that it compiles in a ``with`` block."""
    with _LOCK:
        _USERS.append(None)
        if len(_USERS) == 1:
            _PATCHES[:] = _patches() if DOOR.has("sot_lines") and DOOR.has("graph_breaks") else ()
            for patch in _PATCHES:
                patch.apply()
    try:
        yield
    finally:
        with _LOCK:
            _USERS.pop()
            if not _USERS:
                for patch in _PATCHES:
                    patch.revert()
                _NOTED.clear()


def _patches() -> list[AttributePatch]:
    return [
        DOOR.patch("sot_log_of_graph", _noting),
        DOOR.patch("sot_log_of_interpreter", _noting),
        DOOR.patch("sot_stack", lambda _: staticmethod(_lines_of_calls)),
        DOOR.patch("sot_append_stack", lambda _: _add_lines),
    ]


def _noting(log: Any) -> Callable[..., None]:
    def run(level: int, note: Callable[[], None]) -> None:
        if level != _NOTING:
            log(level, note)
            return
        with suppress(Exception):
            note()

    return run


def _lines_of_calls() -> list[str]:
    """Return the current line of each function that SOT is reading, like in a traceback."""
    lines: list[str] = []
    for executor in DOOR.sot_executor.call_stack:
        code, line = line_of(executor)
        place = f'  File "{code.co_filename}", line {line}, in {code.co_name}'
        lines += [place, ""]
    return lines


def _add_lines(start: int, end: int, stack: Sequence[str]) -> None:
    """Insert the lines of a statement between the user's call and Paddle's code."""
    for op in DOOR.sot_ops_between(start, end):
        # Ops of earlier statements may be in this range, because Paddle adds parameters at the
        # front.
        if op.id() in _NOTED:
            continue
        _NOTED.add(op.id())
        own = list(op.attrs().get("op_callstack") or ())
        if not own:  # an op that Paddle adds by itself
            continue
        at = max((at for at, line in enumerate(own) if "run_sir" in line), default=-2) + 2
        op.callstack = [*own[:at], *stack, *own[at:]]
