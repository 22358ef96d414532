"""A magic's line of options: what it says, or one sentence on what is wrong with it."""

from __future__ import annotations

import difflib
import keyword
import os
import shlex
from argparse import Namespace
from typing import Any, cast

from IPython.core.error import UsageError

LEAST_HEIGHT_PX = 240
LARGEST_HEIGHT_PX = 4000


def parse(magic: Any, line: str, *, name: str) -> Namespace:
    """Return the options of a cell magic that shows a trace.

    Parameters
    ----------
    magic
        A function with IPython's parser of magic arguments.
    line
        What was typed behind the magic's name.
    name
        The magic as typed, such as ``"%%paddle_trace"``.

    Raises
    ------
    UsageError
        For what it does not know, and for values that cannot be.
    """
    try:
        # On Windows a backslash parts folders.
        words = shlex.split(line, posix=os.name == "posix")
    except ValueError as error:
        raise UsageError(f"{name}: {error} in {line!r}") from None
    options, unknown = magic.parser.parse_known_args(words)
    if unknown:
        known = [text for action in magic.parser._actions for text in action.option_strings]  # noqa: SLF001
        near = difflib.get_close_matches(unknown[0], known, n=1)
        long = [text for text in known if text.startswith("--")]
        advice = f"did you mean {near[0]}?" if near else f"it has {', '.join(long)}"
        raise UsageError(f"{name} has no option {unknown[0]}; {advice}")
    variable = options.output
    if variable is not None and (not variable.isidentifier() or keyword.iskeyword(variable)):
        raise UsageError(f"{name}: -o needs a variable name, and {variable!r} is none")
    if not LEAST_HEIGHT_PX <= options.height <= LARGEST_HEIGHT_PX:
        raise UsageError(f"{name}: --height is 240 to 4000 pixels, not {options.height}")
    return cast("Namespace", options)
