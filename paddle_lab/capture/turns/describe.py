"""What a trace knows of a code object before it runs, asked once for each."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import CodeType
from typing import Any, Final

from paddle_lab.capture.stacks.frame_kinds import USER, is_own, kind_of
from paddle_lab.capture.turns.code_loops import CodeLoops, place, source_loops

LoopRow = tuple[str, int, str]
"""file, line, words."""

_NO_CALLS: Final = ("<module>", "forward", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Code whose calls are no groups: cells, layers' own code, comprehensions."""
_PADDLES_TRAINING_LOOPS: Final = os.path.join("hapi", "model.py")
"""``Model.fit`` and its kin run the user's epochs and steps."""


class CodeDescriber:
    """Tells the loops of a code object, and whether its calls are groups.

    Parameters
    ----------
    paddle
        The paddle module.
    loops
        Where loops are noted.
    name_key
        Returns the key of a scope's name.
    """

    def __init__(self, paddle: Any, loops: list[LoopRow], name_key: Callable[[str], int]) -> None:
        self._paddle_folder = os.path.join(os.path.dirname(os.path.abspath(paddle.__file__)), "")
        self._loops = loops
        self._name_key = name_key

    def __call__(self, code: CodeType) -> CodeLoops | None:
        """Return what is known of a code object, ``None`` where there is nothing to tell."""
        file = code.co_filename
        is_users = kind_of(file, self._paddle_folder) == USER and not is_own(file)
        if not is_users and not file.endswith(_PADDLES_TRAINING_LOOPS):
            return None
        is_group = is_users and code.co_name not in _NO_CALLS
        name = getattr(code, "co_qualname", code.co_name)
        found = CodeLoops(self._name_key(_short(name)) if is_group else -1)
        try:
            self._place_loops(code, found)
        except Exception:  # noqa: BLE001  (a source that has changed; the op is recorded all the same)
            found.loops.clear()
        return found if found.loops or is_group else None

    def _place_loops(self, code: CodeType, found: CodeLoops) -> None:
        known = source_loops(code)
        if known is None or not known[1]:
            return
        keys: list[tuple[int, int]] = []
        for loop in known[1]:
            keys.append((len(self._loops), self._name_key(loop.words)))
            self._loops.append((code.co_filename, loop.line, loop.words))
        place(code, *known, keys, found)


def _short(function: str) -> str:
    owner, _, name = function.rpartition(".")
    if name == "__init__" and owner:
        name = owner.rpartition(".")[2]
    return "lambda" if name == "<lambda>" else name
