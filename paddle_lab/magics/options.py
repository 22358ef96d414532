"""A magic's line of options: what it says, or one sentence on what is wrong with it."""

from __future__ import annotations

import keyword
import os
import shlex
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from paddle_lab.trace.limit import DEFAULT_OPS, KEEPS, limit_of_text
from paddle_lab.words import Language, Text, language, say
from paddle_lab.words.suggestion import suggestion

LEAST_HEIGHT_PX = 240
LARGEST_HEIGHT_PX = 4000
COMMANDS = ("on", "off", "report", "free")
"""What ``%paddle_mem`` does."""
HELP = ("-h", "--help", "help", "?")

_Run = TypeVar("_Run", bound=Callable[..., Any])


def split_line(line: str, *, backslash_escapes: bool) -> list[str]:
    """Split a line into words, as a shell does: quotes keep spaces together and are dropped.

    Parameters
    ----------
    line
        What was typed after the magic's name.
    backslash_escapes
        Whether a backslash escapes the next character, as in a shell. Otherwise it is a character
        like any other, as in a path of Windows.

    Raises
    ------
    ValueError
        If a quotation is not closed.
    """
    words = shlex.shlex(line, posix=True)
    words.whitespace_split = True
    words.commenters = ""
    if not backslash_escapes:
        words.escape = ""
    return list(words)


class CellOptions:
    """The options of a cell magic that shows a trace.

    Their parser is made when it is first asked for, once in each language: its help tells what each
    check costs, and the checks are many modules, which ``%load_ext`` need not wait for.

    Parameters
    ----------
    name
        The magic as typed, such as ``"%%paddle_trace"``.
    views
        What ``--view`` may be; the first unless given.
    does
        What the magic is for.
    view_help
        What ``--view`` chooses.
    commands
        What the line magic of the same name does.
    """

    def __init__(
        self,
        name: str,
        *,
        views: Sequence[str],
        does: Text,
        view_help: Text,
        commands: Sequence[str] = (),
    ) -> None:
        self._name = name
        self._commands = commands
        self._views = views
        self._does = does
        self._view_help = view_help
        self._parsers: dict[Language, MagicArgumentParser] = {}

    def explain(self, run: _Run) -> _Run:
        """Make IPython show the options as the magic's docstring."""
        # What IPython asks before it looks for a docstring.
        run.getdoc = self.help  # type: ignore[attr-defined]
        return run

    def help(self) -> str:
        """Return what the magic does, and its options."""
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
            # On Windows a backslash separates folders.
            words = split_line(line, backslash_escapes=os.name != "nt")
        except ValueError as error:
            raise UsageError(
                say("magics.bad_line", magic=self._name, error=error, line=repr(line))
            ) from None
        try:
            options, unknown = self._parser.parse_known_args(words)
        except UsageError as error:
            raise UsageError(say("magics.bad_option", magic=self._name, error=error)) from None
        if unknown:
            raise UsageError(self._unknown(unknown[0]))
        variable = options.output
        if variable is not None and (not variable.isidentifier() or keyword.iskeyword(variable)):
            raise UsageError(say("magics.no_variable_name", magic=self._name, name=repr(variable)))
        if options.view not in self._views:
            advice = suggestion(options.view, self._views, key="errors.one_of")
            told = say("errors.cannot_be", option="--view", value=repr(options.view), advice=advice)
            raise UsageError(say("magics.bad_option", magic=self._name, error=told))
        if not LEAST_HEIGHT_PX <= options.height <= LARGEST_HEIGHT_PX:
            raise UsageError(
                say(
                    "magics.height",
                    magic=self._name,
                    least=LEAST_HEIGHT_PX,
                    most=LARGEST_HEIGHT_PX,
                    height=options.height,
                )
            )
        try:
            chosen(options.check)
            options.limit = limit_of_text(options.limit, options.keep)
        except ValueError as error:
            raise UsageError(say("magics.bad_option", magic=self._name, error=error)) from None
        return options

    @property
    def _parser(self) -> MagicArgumentParser:
        speaks = language()
        if speaks not in self._parsers:
            self._parsers[speaks] = self._new_parser()
        return self._parsers[speaks]

    def _new_parser(self) -> MagicArgumentParser:
        # IPython's help begins with a percent sign of its own.
        parser = MagicArgumentParser(self._name[1:], description=str(self._does))
        add = parser.add_argument
        add("-o", "--output", metavar="NAME", help=say("magics.help.output"))
        views = "{" + ",".join(self._views) + "}"
        add("--view", metavar=views, default=self._views[0], help=str(self._view_help))
        add(
            "--height",
            type=int,
            default=560,
            metavar="PX",
            help=say("magics.help.height", least=LEAST_HEIGHT_PX, most=LARGEST_HEIGHT_PX),
        )
        add("--title", help=say("magics.help.title"))
        add("--save", metavar="PATH", help=say("magics.help.save"))
        add("-q", "--quiet", action="store_true", help=say("magics.help.quiet"))
        add("--check", metavar="NAMES", help=_check_help())
        add(
            "--grads",
            nargs="?",
            const=True,
            default=False,
            metavar="REGION",
            help=say("magics.help.grads"),
        )
        add(
            "--limit",
            default=str(DEFAULT_OPS),
            metavar="OPS",
            help=say("magics.help.limit"),
        )
        add(
            "--keep",
            default=KEEPS[0],
            metavar="WHICH",
            help=say("magics.help.keep"),
        )
        return parser

    def _unknown(self, word: str) -> str:
        if word in HELP:
            return say("magics.shows_options", magic=self._name)
        if word in self._commands:
            command = f"{self._name[1:]} {word}"
            return say("magics.line_command", magic=self._name, word=word, command=command)
        known = [text for action in self._parser._actions for text in action.option_strings]  # noqa: SLF001
        long = [text for text in known if text.startswith("--")]
        advice = suggestion(word, known, listed=long)
        return say("magics.no_option", magic=self._name, word=word, advice=advice)


def _check_help() -> str:
    """Return the help of ``--check``: every check and what it costs."""
    from paddle_lab.analysis.findings.registry import checks

    costs = say("magics.help.check_between").join(
        say("magics.help.check_cost", kind=kind, cost=check.cost)
        for kind, check in checks().items()
    )
    return say("magics.help.check", costs=costs).replace("%", "%%")  # argparse formats it
