"""Notes graph breaks, fallbacks and recompilations while SOT translates.

SOT never reports the line of a break, and does not report a condition on a tensor at all. But each
break calls one of two functions, and each fallback is an exception that ends a translation. The
first error in the chain of SOT's errors says where the cause is. An error alone is no break,
because SOT tries some things twice.

These hooks run inside SOT. They never raise, and they are removed after the call.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from types import CodeType, FrameType
from typing import Any, NamedTuple

from paddle_lab.capture.breaks.guards import Missed, missed_guard
from paddle_lab.capture.breaks.spots import Spot, first_spot, present_spots, spot_of, written_code
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch

_SPOTS = "_paddle_lab_spots"
_LONGEST_CHAIN = 64


class Broken(NamedTuple):
    """A break, or a function that runs eagerly."""

    spots: list[Spot]
    """Where the cause is, the innermost function first."""
    reason: str
    """The class of SOT's reason; empty for a condition."""
    said: str
    """SOT's own message."""
    eager: CodeType | None
    """The function that runs eagerly as a whole; None if only the line of the break does."""
    loops: list[Spot]
    """The loops that run eagerly because of the break."""


class Recompiled(NamedTuple):
    """A function that was compiled again."""

    code: CodeType
    missed: Missed


class Watched:
    """What one call of a compiled function did."""

    def __init__(self) -> None:
        self.breaks: list[Broken] = []
        self.recompilations: list[Recompiled] = []
        self.last_error: Any = None
        """The last error of the running translation."""
        self.versions: dict[CodeType, list[Any]] = {}
        """Guards of versions that were compiled before, which SOT cannot see during this call."""
        self.eager_lines: set[str] = set()
        """Lines of pieces that are too small to be compiled, in the form of a traceback; "" for a
        line that SOT does not know."""
        self.namespaces: dict[int, tuple[dict[str, Any], dict[str, Any]]] | None = None
        """Maps the id of a translated function's globals to the globals and an earlier copy of
        them; None if not wanted. SOT adds its own names to globals."""


_LOCK = threading.RLock()
_open: list[Watched] = []
_patches: list[AttributePatch] = []


@contextmanager
def watching(watched: Watched) -> Iterator[None]:
    """Watch SOT in a block. Its feature of the door must be on."""
    with _LOCK:
        _open.append(watched)
        if len(_open) == 1:
            _patches[:] = [
                AttributePatch(DOOR.sot_error, "__init__", _placing),
                DOOR.patch("break_at_call", _noting_calls),
                DOOR.patch("break_at_jump", _noting_jumps),
                DOOR.patch("piece_is_small", _noting_small_pieces),
                AttributePatch(DOOR.sot_cache, "translate", _noting_translations),
            ]
            for patch in _patches:
                patch.apply()
    try:
        yield
    finally:
        with _LOCK:
            _open.remove(watched)
            if not _open:
                for patch in _patches:
                    patch.revert()
                _patches.clear()


def _placing(init: Any) -> Callable[..., None]:
    @wraps(init)
    def placed(self: Any, *args: Any, **kwargs: Any) -> None:
        with suppress(Exception):
            setattr(self, _SPOTS, present_spots())
            for watched in _open:
                watched.last_error = self
        init(self, *args, **kwargs)

    return placed


def _noting_calls(break_graph: Any) -> Callable[..., Any]:
    @wraps(break_graph)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        error = sys.exc_info()[1]
        result = break_graph(self, *args, **kwargs)
        with suppress(Exception):
            _note(_broken(error, None))
        return result

    return call


def _noting_jumps(break_graph: Any) -> Callable[..., Any]:
    @wraps(break_graph)
    def jump(self: Any, condition: Any, instruction: Any) -> Any:
        spots: list[Spot] = []
        with suppress(Exception):
            spots = [spot_of(self, instruction)]
        result = break_graph(self, condition, instruction)
        with suppress(Exception):
            _note(Broken(spots, "", "", None, []))
        return result

    return jump


def _noting_translations(translate: Any) -> Callable[..., Any]:
    @wraps(translate)
    def translated(self: Any, frame: Any, **kwargs: Any) -> Any:
        before = [watched.last_error for watched in _open]
        for watched in _open:
            watched.last_error = None
        with suppress(Exception):
            _note_recompilation(self, frame)
            for watched in _open:
                if watched.namespaces is not None:
                    names = frame.f_globals
                    watched.namespaces.setdefault(id(names), (names, dict(names)))
        try:
            result = translate(self, frame, **kwargs)
            with suppress(Exception):
                _note_fallback(frame.f_code, *result[:2])
        finally:
            for watched, error in zip(_open, before, strict=False):
                watched.last_error = error
        return result

    return translated


def _noting_small_pieces(is_small: Any) -> Callable[..., Any]:
    @wraps(is_small)
    def noted(result: Any) -> Any:
        answer = is_small(result)
        with suppress(Exception):
            for statement in result[1][0].statements if answer else ():
                for watched in _open:
                    watched.eager_lines.update(statement.stmt_stack[::2] or ("",))
        return answer

    return noted


def _note_recompilation(cache: Any, frame: Any) -> None:
    code = frame.f_code
    present = [guard for _, guard in cache.cache.get(code, ((),))[0]]
    for watched in _open:
        missed = missed_guard(present or watched.versions.get(code, []), frame)
        if missed is not None:
            watched.recompilations.append(Recompiled(written_code(code), missed))


def _note_fallback(code: CodeType, made: Any, guard: Any) -> None:
    error = _open[-1].last_error if _open else None
    is_fallback = guard is DOOR.fallback_guard or "Conditional" in type(error).__name__
    if made.code is None and error is not None and is_fallback:
        _note(_broken(error, written_code(code)))


def _note(broken: Broken) -> None:
    if _is_importing():
        return
    for watched in _open:
        watched.breaks.append(broken)


def _is_importing() -> bool:
    """Tell whether an import is running: SOT also translates functions that imports call."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _broken(error: Any, eager: CodeType | None) -> Broken:
    """Return the break that a chain of errors describes. ``error`` is the last of these errors."""
    chain: list[Any] = []
    while error is not None and len(chain) < _LONGEST_CHAIN:
        if isinstance(error, DOOR.sot_error) and hasattr(error, _SPOTS):
            chain.append(error)
        error = error.__context__
    causes = [one for one in chain if "Captured" not in type(one).__name__] or chain
    first = causes[-1]
    spots: list[Spot] = getattr(first, _SPOTS)
    if not spots and eager is not None:
        spots = [first_spot(eager)]
    reason = getattr(first, "reason", first)
    if "Fallback" in type(first).__name__ and spots:
        # Callers of the function that falls back are only split.
        eager = eager if eager is not None and len(spots) == 1 else spots[0].code
    loops = [
        next(spot for spot in getattr(one, _SPOTS) if spot.operation == "FOR_ITER")
        for one in causes[:-1]
        if "FOR_ITER" in str(one)
    ]
    said = str(first).strip()
    if "Captured" in type(first).__name__:  # an exception of the code that SOT simulates
        said = f"{type(first).__name__.removeprefix('SotCaptured')}: {said}"
    return Broken(spots, type(reason).__name__, said, eager, loops)
