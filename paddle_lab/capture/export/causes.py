"""Finds the kind of a fault, and the user's line that caused it."""

from __future__ import annotations

import linecache
import re
import sysconfig
import traceback
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.export.guarded_source import Place
from paddle_lab.capture.stacks.frame_kinds import TRANSLATED

_LONGEST = 200
BRANCHES, EAGER_ONLY = "branch-types", "eager-only"
OTHER, LOOP_EXIT, NEW_PARAMETER = "other", "loop-exit", "new-parameter"
UNUSED_INPUT, DIFFERENT, NUMPY = "unused-input", "different-result", "numpy"
_KINDS: Final = {
    "endless-loop": "EndlessLoop",
    NEW_PARAMETER: "has no attribute 'get_tensor'",
    LOOP_EXIT: "change from bool to variable",
    BRANCHES: "Dygraph2StaticException|different (return )?type|true_fn|false_fn|l_type|"
    "dim1\\.size\\(\\)|got UndefinedVar",
    "python-branch": "bool\\(Tensor\\)|cond_cn\\.html",
    "view-in-place": "viewed Tensor",
    "number-needed": "(int|float|complex|bool|index)\\((Tensor|Value)\\)|list indices must be|"
    'interpreted as an integer|astype\\("float64"\\)|KeyError.*Value\\(|'
    "real number|doesn't define __\\w+__|must be list of int, but got .*Value",
    "format": "__format__|format string",
    NUMPY: "Misread|numpy API|array element with a sequence|type of received input == `object`|"
    "dtype\\('O'\\)",
    EAGER_ONLY: "has no (attribute|len\\()|enable_to_static\\(False\\)|dynamic mode|dygraph mode|"
    "static mode|static graph mode",
    "recursion": "RecursionError|UnicodeDecodeError",
    UNUSED_INPUT: "not involved in the target_vars",
    "input-spec": "requires \\d+ arguments|input_spec|InputSpec",
    "no-source": "could not get source|source code not available",
}
"""The text that a fault of each kind contains. The first match counts."""


class Fault(NamedTuple):
    """A fault of an export: its kind, its place in the user's source, Paddle's message."""

    kind: str
    file: str
    line: int
    said: str


def fault_of(error: BaseException, fallback: Place) -> Fault:
    """Return the fault of an exception. ``fallback`` is the place if no line is the user's."""
    said = _last_line(error)
    told = f"{type(error).__name__}: {error}"
    kind = next((kind for kind, pattern in _KINDS.items() if re.search(pattern, told)), OTHER)
    around = [(one.filename, one.lineno or 0) for one in traceback.extract_stack()]
    ours = next((at for at, (file, _) in enumerate(around) if file.startswith(_PACKAGE)), 0)
    inside = [(one.filename, one.lineno or 0) for one in traceback.extract_tb(error.__traceback__)]
    frames = [*around[ours:], *inside]
    data = getattr(error, DOOR.error_data, None)
    place = user_place([*frames, *(one[:2] for one in getattr(data, "origin_traceback", ()))])
    place = place or fallback
    text = linecache.getline(*place)
    if re.search(r"\braise ", text):
        kind = "raised"
    elif kind == "python-branch" and re.search(r"\b(np|numpy)\.", text):
        kind = "number-needed"  # NumPy needs a number, as in ``np.arange(x.shape[0])``
    name = re.search(r"(?:replace|no attribute) '(\w+)'", told)
    return Fault(kind, *place, name[1] if name and kind == EAGER_ONLY else said)


def user_place(frames: Sequence[tuple[str, int]]) -> Place | None:
    """Return the last frame of user code. For translated code, return the line of the source."""
    for file, line in reversed(frames):
        origin: Any = DOOR.origins.get((file, line))
        place = Place(file, line)
        if origin is not None:
            place = Place(origin.location.filepath, origin.location.lineno)
        if not is_library(place.file):
            return place
    return None


def is_library(file: str) -> bool:
    """Tell whether a file is installed, generated, or part of this package."""
    paths = [sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")]
    return not file or TRANSLATED in file or file.startswith((*paths, "<frozen", _PACKAGE))


_PACKAGE = __file__.rpartition("capture")[0]


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[-1] if lines else type(error).__name__
    if len(said) > _LONGEST:
        said = f"{said[:_LONGEST]}…"
    return said
