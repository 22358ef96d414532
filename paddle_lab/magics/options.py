"""A magic's line of options: what it says, or one sentence on what is wrong with it."""

from __future__ import annotations

import difflib
import keyword
import os
import shlex
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument, magic_arguments

from paddle_lab.analysis.findings.registry import checks, chosen
from paddle_lab.trace.limit import DEFAULT_OPS, KEEPS, limit_of_text

LEAST_HEIGHT_PX = 240
LARGEST_HEIGHT_PX = 4000

_Run = TypeVar("_Run", bound=Callable[..., Any])


def cell_options(name: str, *, views: Sequence[str], view_help: str) -> Callable[[_Run], _Run]:
    """Give a cell magic that shows a trace its options, which IPython adds to its docstring.

    Parameters
    ----------
    name
        What the help calls the magic.
    views
        What ``--view`` may be; the first unless given.
    view_help
        What ``--view`` chooses.
    """
    options = (
        magic_arguments(name),
        argument("-o", "--output", metavar="NAME", help="Bind the trace to this variable."),
        argument("--view", choices=views, default=views[0], help=view_help),
        argument(
            "--height",
            type=int,
            default=560,
            metavar="PX",
            help=f"Height of the view, {LEAST_HEIGHT_PX} to {LARGEST_HEIGHT_PX} pixels.",
        ),
        argument("--title", help="What the view calls the trace; the cell's number unless given."),
        argument("--save", metavar="PATH", help="Also save the trace to this file."),
        argument("-q", "--quiet", action="store_true", help="Record, but show nothing."),
        argument("--check", metavar="NAMES", help=_check_help()),
        argument(
            "--grads",
            nargs="?",
            const=True,
            default=False,
            metavar="REGION",
            help="Also record what is in each gradient: norm, extremes, zeros, NaN, a histogram. "
            "With a region's name its gradients are kept themselves.",
        ),
        argument(
            "--limit",
            default=str(DEFAULT_OPS),
            metavar="OPS",
            help="The most ops that the trace keeps, or none for all. A notice says when it was "
            "reached.",
        ),
        argument(
            "--keep",
            default=KEEPS[0],
            metavar="WHICH",
            help="Which ops it keeps then: newest; first, after which nothing is recorded and the "
            "cell runs as without the magic; steps, training steps spread over the whole run, the "
            "first and the newest among them.",
        ),
    )

    def decorate(run: _Run) -> _Run:
        for option in reversed(options):
            run = option(run)
        return run

    return decorate


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
        raise UsageError(
            f"{name}: --height is {LEAST_HEIGHT_PX} to {LARGEST_HEIGHT_PX} pixels, "
            f"not {options.height}"
        )
    try:
        chosen(options.check)
        options.limit = limit_of_text(options.limit, options.keep)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None
    return cast("Namespace", options)


def _check_help() -> str:
    """Return the help of ``--check``: every check and what it costs."""
    costs = "; ".join(f"{kind} ({check.cost})" for kind, check in checks().items())
    text = (
        "What to look for: all, none, or names with commas between; unless given, what costs next "
        f"to nothing. paddle_lab.checks() shows them as a table. There are: {costs}."
    )
    return text.replace("%", "%%")  # argparse formats it
