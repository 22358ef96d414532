"""A magic's line of options: what it says, or one sentence on what is wrong with it."""

from __future__ import annotations

import difflib
import keyword
import os
import shlex
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from paddle_lab.trace.limit import DEFAULT_OPS, KEEPS, limit_of_text

LEAST_HEIGHT_PX = 240
LARGEST_HEIGHT_PX = 4000
COMMANDS = ("on", "off", "report", "free")
"""What ``%paddle_mem`` does."""
HELP = ("-h", "--help", "help", "?")

_Run = TypeVar("_Run", bound=Callable[..., Any])


class CellOptions:
    """The options of a cell magic that shows a trace.

    Their parser is made when it is first asked for: its help tells what each check costs, and the
    checks are many modules, which ``%load_ext`` need not wait for.

    Parameters
    ----------
    name
        The magic as typed, such as ``"%%paddle_trace"``.
    views
        What ``--view`` may be; the first unless given.
    view_help
        What ``--view`` chooses.
    commands
        What the line magic of the same name does.
    """

    def __init__(
        self, name: str, *, views: Sequence[str], view_help: str, commands: Sequence[str] = ()
    ) -> None:
        self._name = name
        self._commands = commands
        self._views = views
        self._view_help = view_help
        self._description = ""

    def explain(self, run: _Run) -> _Run:
        """Let IPython show the options where it shows the magic's docstring."""
        self._description = run.__doc__ or ""
        # What IPython asks before it looks for a docstring.
        run.getdoc = self.help  # type: ignore[attr-defined]
        return run

    def help(self) -> str:
        """Return the magic's docstring and its options."""
        return self._parser.format_help()

    def parse(self, line: str) -> Namespace:
        """Return what a line says.

        Parameters
        ----------
        line
            What was typed behind the magic's name.

        Raises
        ------
        UsageError
            For what it does not know, and for values that cannot be.
        """
        from paddle_lab.analysis.findings.registry import chosen

        try:
            # On Windows a backslash parts folders.
            words = shlex.split(line, posix=os.name == "posix")
        except ValueError as error:
            raise UsageError(f"{self._name}: {error} in {line!r}") from None
        try:
            options, unknown = self._parser.parse_known_args(words)
        except UsageError as error:
            raise UsageError(f"{self._name}: {error}") from None
        if unknown:
            raise UsageError(self._unknown(unknown[0]))
        variable = options.output
        if variable is not None and (not variable.isidentifier() or keyword.iskeyword(variable)):
            raise UsageError(f"{self._name}: -o needs a variable name, and {variable!r} is none")
        if not LEAST_HEIGHT_PX <= options.height <= LARGEST_HEIGHT_PX:
            raise UsageError(
                f"{self._name}: --height is {LEAST_HEIGHT_PX} to {LARGEST_HEIGHT_PX} pixels, "
                f"not {options.height}"
            )
        try:
            chosen(options.check)
            options.limit = limit_of_text(options.limit, options.keep)
        except ValueError as error:
            raise UsageError(f"{self._name}: {error}") from None
        return options

    @cached_property
    def _parser(self) -> MagicArgumentParser:
        # IPython's help begins with a percent sign of its own.
        parser = MagicArgumentParser(self._name[1:], description=self._description)
        add = parser.add_argument
        add(
            "-o", "--output", metavar="NAME", help="Bind the trace to this variable, if it is free."
        )
        add("--view", choices=self._views, default=self._views[0], help=self._view_help)
        add(
            "--height",
            type=int,
            default=560,
            metavar="PX",
            help=f"Height of the view, {LEAST_HEIGHT_PX} to {LARGEST_HEIGHT_PX} pixels.",
        )
        add("--title", help="What the view calls the trace; the cell's number unless given.")
        add("--save", metavar="PATH", help="Also save the trace to this file.")
        add("-q", "--quiet", action="store_true", help="Record, but show nothing.")
        add("--check", metavar="NAMES", help=_check_help())
        add(
            "--grads",
            nargs="?",
            const=True,
            default=False,
            metavar="REGION",
            help="Also record what is in each gradient: norm, extremes, zeros, NaN, a histogram. "
            "With a region's name its gradients are kept themselves.",
        )
        add(
            "--limit",
            default=str(DEFAULT_OPS),
            metavar="OPS",
            help="The most ops that the trace keeps, or none for all; with memory, also five "
            "allocations for each. A notice says when it was reached.",
        )
        add(
            "--keep",
            default=KEEPS[0],
            metavar="WHICH",
            help="Which ops it keeps then: newest; first, after which nothing is recorded and the "
            "cell runs as without the magic; steps, training steps spread over the whole run, the "
            "first and the newest among them.",
        )
        return parser

    def _unknown(self, word: str) -> str:
        if word in HELP:
            return f"{self._name}? shows its options and what they do"
        if word in self._commands:
            command = f"{self._name[1:]} {word}"
            return f"{self._name} has no option {word}; {command}, with one %, is a line by itself"
        known = [text for action in self._parser._actions for text in action.option_strings]  # noqa: SLF001
        near = difflib.get_close_matches(word, known, n=1)
        long = [text for text in known if text.startswith("--")]
        advice = f"did you mean {near[0]}?" if near else f"it has {', '.join(long)}"
        return f"{self._name} has no option {word}; {advice}"


def _check_help() -> str:
    """Return the help of ``--check``: every check and what it costs."""
    from paddle_lab.analysis.findings.registry import checks

    costs = "; ".join(f"{kind} ({check.cost})" for kind, check in checks().items())
    text = (
        "What to look for: all, none, or names with commas between; unless given, what costs next "
        f"to nothing. paddle_lab.checks() shows them as a table. There are: {costs}."
    )
    return text.replace("%", "%%")  # argparse formats it
