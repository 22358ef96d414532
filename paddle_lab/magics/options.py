"""A magic's line of options: what it says, or one sentence on what is wrong with it."""

from __future__ import annotations

import keyword
import os
import shlex
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from paddle_lab.trace.limit import DEFAULT_OPS, KEEPS, limit_of_text
from paddle_lab.words import Text, say
from paddle_lab.words.suggestion import suggestion

_LEAST_HEIGHT_PX, _LARGEST_HEIGHT_PX = 240, 4000
COMMANDS = ("on", "off", "report", "free")
"""What ``%paddle_mem`` does."""
HELP = ("-h", "--help", "help", "?")

_Run = TypeVar("_Run", bound=Callable[..., Any])


def explained(text: Callable[[], str]) -> Callable[[_Run], _Run]:
    """Make IPython show ``text`` where it shows a magic's docstring."""

    def decorated(run: _Run) -> _Run:
        # What IPython asks before it looks for a docstring.
        run.getdoc = text  # type: ignore[attr-defined]
        return run

    return decorated


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


def known_options(
    magic: str, parser: MagicArgumentParser, words: Sequence[str]
) -> tuple[Namespace, list[str]]:
    """Return what a magic's words say, and those that its parser does not know.

    Raises
    ------
    UsageError
        For an option without its value, or with one that cannot be read.
    """
    try:
        return parser.parse_known_args(words)
    except UsageError as error:
        raise UsageError(say("magics.bad_option", magic=magic, error=error)) from None


def check_height(magic: str, height: int, *, least: int, most: int) -> None:
    """Raise a ``UsageError`` for a height in pixels that is out of bounds."""
    if not least <= height <= most:
        told = say("magics.height", magic=magic, least=least, most=most, height=height)
        raise UsageError(told)


@dataclass(frozen=True)
class CellOptions:
    """The options of a cell magic that shows a trace.

    Parameters
    ----------
    magic
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

    magic: str
    views: Sequence[str]
    does: Text
    view_help: Text
    commands: Sequence[str] = ()

    def help(self) -> str:
        """Return what the magic does, and its options."""
        return self._parser().format_help()

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

        magic = self.magic
        try:
            # On Windows a backslash separates folders.
            words = split_line(line, backslash_escapes=os.name != "nt")
        except ValueError as error:
            told = say("magics.bad_line", magic=magic, error=error, line=repr(line))
            raise UsageError(told) from None
        parser = self._parser()
        options, unknown = known_options(magic, parser, words)
        if unknown:
            raise UsageError(self._complaint(unknown[0], parser))
        variable = options.output
        if variable is not None and (not variable.isidentifier() or keyword.iskeyword(variable)):
            raise UsageError(say("magics.no_variable_name", magic=magic, name=repr(variable)))
        check_height(magic, options.height, least=_LEAST_HEIGHT_PX, most=_LARGEST_HEIGHT_PX)
        if options.view not in self.views:
            advice = suggestion(options.view, self.views, key="errors.one_of")
            told = say("errors.cannot_be", option="--view", value=repr(options.view), advice=advice)
            raise UsageError(say("magics.bad_option", magic=magic, error=told))
        try:
            chosen(options.check)
            options.limit = limit_of_text(options.limit, options.keep)
        except ValueError as error:
            raise UsageError(say("magics.bad_option", magic=magic, error=error)) from None
        return options

    def _parser(self) -> MagicArgumentParser:
        # IPython's help begins with a percent sign of its own.
        parser = MagicArgumentParser(self.magic[1:], description=str(self.does))

        add = parser.add_argument
        height = say("magics.help.height", least=_LEAST_HEIGHT_PX, most=_LARGEST_HEIGHT_PX)
        views = "{" + ",".join(self.views) + "}"
        add("-o", "--output", metavar="NAME", help=say("magics.help.output"))
        add("--view", metavar=views, default=self.views[0], help=str(self.view_help))
        add("--height", type=int, default=560, metavar="PX", help=height)
        add("--title", help=say("magics.help.title"))
        add("--save", metavar="PATH", help=say("magics.help.save"))
        add("-q", "--quiet", action="store_true", help=say("magics.help.quiet"))
        add("--check", metavar="NAMES", help=_check_help())
        grads = say("magics.help.grads")
        add("--grads", nargs="?", const=True, default=False, metavar="REGION", help=grads)
        add("--limit", default=str(DEFAULT_OPS), metavar="OPS", help=say("magics.help.limit"))
        add("--keep", default=KEEPS[0], metavar="WHICH", help=say("magics.help.keep"))
        return parser

    def _complaint(self, word: str, parser: MagicArgumentParser) -> str:
        if word in HELP:
            return say("magics.shows_options", magic=self.magic)
        if word in self.commands:
            command = f"{self.magic[1:]} {word}"
            return say("magics.line_command", magic=self.magic, word=word, command=command)
        known = [text for action in parser._actions for text in action.option_strings]  # noqa: SLF001
        long = [text for text in known if text.startswith("--")]
        advice = suggestion(word, known, listed=long)
        return say("magics.no_option", magic=self.magic, word=word, advice=advice)


CELL_MAGICS: Final = {
    "paddle_trace": CellOptions(
        "%%paddle_trace",
        views=("forward", "backward", "ladder"),
        does=Text("magics.help.trace"),
        view_help=Text("magics.help.view_trace"),
    ),
    "paddle_mem": CellOptions(
        "%%paddle_mem",
        views=("memory", "forward", "backward", "ladder"),
        does=Text("magics.help.memory"),
        view_help=Text("magics.help.view_memory"),
        commands=COMMANDS,
    ),
}
"""The cell magics by name."""


def _check_help() -> str:
    """Return the help of ``--check``: every check and what it costs."""
    from paddle_lab.analysis.findings.registry import checks

    costs = say("magics.help.check_between").join(
        say("magics.help.check_cost", kind=kind, cost=check.cost)
        for kind, check in checks().items()
    )
    return say("magics.help.check", costs=costs).replace("%", "%%")  # argparse formats it
