"""Parses a magic's line into options. The error for a wrong line says what is wrong."""

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

from paddle_lab.magics.help_screen import help_screen
from paddle_lab.trace.limit import (
    DEFAULT_OPS,
    DEFAULT_REPLAY_MB,
    KEEPS,
    digest_decimals,
    limit_of_text,
    replay_mb,
)
from paddle_lab.trace.log_text import DEFAULT_LEVEL, log_level
from paddle_lab.words import Text, say
from paddle_lab.words.suggestion import suggestion

_HEIGHTS_PX = 240, 4000
LINE_MAGIC = "%paddle_mem"
COMMANDS = ("on", "off", "report", "free")
_HELP = ("-h", "--help", "help", "?")

_Run = TypeVar("_Run", bound=Callable[..., Any])


def explained(text: Callable[[], str]) -> Callable[[_Run], _Run]:
    """Make IPython show ``text`` as the help of a magic, instead of its docstring."""

    def decorated(run: _Run) -> _Run:
        # IPython calls this method before it reads a docstring.
        run.getdoc = text  # type: ignore[attr-defined]
        return run

    return decorated


def split_line(line: str, *, backslash_escapes: bool) -> list[str]:
    """Split a line into words like a shell: quotes group words, and are removed.

    Parameters
    ----------
    line
        The text after the magic's name.
    backslash_escapes
        Whether a backslash escapes the next character, as in a shell. Otherwise it is an ordinary
        character, as in Windows paths.

    Raises
    ------
    ValueError
        If a quotation mark is not closed.
    """
    words = shlex.shlex(line, posix=True)
    words.whitespace_split = True
    words.commenters = ""
    if not backslash_escapes:
        words.escape = ""
    return list(words)


def parsed(
    magic: str, parser: MagicArgumentParser, words: Sequence[str], heights: tuple[int, int]
) -> Namespace:
    """Return the options in a magic's words. ``heights`` has the lowest and the highest height.

    Raises
    ------
    UsageError
        For an unknown word, an option without its value, or an invalid value.
    """
    try:
        options, unknown = parser.parse_known_args(words)
    except UsageError as error:
        raise UsageError(say("magics.bad_option", magic=magic, error=error)) from None
    if getattr(options, "command", COMMANDS[0]) not in COMMANDS:
        unknown.insert(0, options.command)
    if unknown:
        raise UsageError(_complaint(magic, unknown[0], parser))
    least, most = heights
    if not least <= options.height <= most:
        text = say("magics.height", magic=magic, least=least, most=most, height=options.height)
        raise UsageError(text)
    return options


def _complaint(magic: str, word: str, parser: MagicArgumentParser) -> str:
    """Return a sentence about an unknown word or a second command."""
    if word in _HELP:
        return say("magics.shows_options", magic=magic)
    is_line = magic == LINE_MAGIC
    if word in COMMANDS and is_line:
        return say("magics.one_command", commands=say("lists.between").join(COMMANDS))
    if word in COMMANDS and magic == f"%{LINE_MAGIC}":
        return say("magics.line_command", magic=magic, word=word, command=f"{LINE_MAGIC} {word}")
    known = [text for action in parser._actions for text in action.option_strings]  # noqa: SLF001
    listed = COMMANDS if is_line else [text for text in known if text.startswith("--")]
    advice = suggestion(word.lower(), [*known, *listed], listed=listed)
    return say("magics.no_option", magic=magic, word=word, advice=advice)


@dataclass(frozen=True)
class CellOptions:
    """The options of a cell magic that shows a trace.

    Parameters
    ----------
    magic
        The magic as typed, such as ``"%%paddle_trace"``.
    views
        The values of ``--view``. The first value is the default.
    does
        What the magic does.
    examples
        Three examples of its use, one per line.
    """

    magic: str
    views: Sequence[str]
    does: Text
    examples: Text
    can_replay: bool = False
    """Whether the magic has ``--replay``. In ``%%paddle_mem``, held tensors would be counted."""

    def help(self) -> str:
        """Return the magic's purpose, examples, and its options in groups, on one screen."""
        return help_screen(self.magic, self._parser(), str(self.does), str(self.examples))

    def parse(self, line: str) -> Namespace:
        """Parse the options in a line.

        Parameters
        ----------
        line
            The text after the magic's name.

        Raises
        ------
        UsageError
            For an unknown option, or an invalid value.
        """
        from paddle_lab.analysis.findings.registry import chosen

        magic = self.magic
        try:
            # On Windows a backslash separates folders.
            words = split_line(line, backslash_escapes=os.name != "nt")
        except ValueError as error:
            text = say("magics.bad_line", magic=magic, error=error, line=repr(line))
            raise UsageError(text) from None
        options = parsed(magic, self._parser(), words, _HEIGHTS_PX)
        variable = options.output
        if variable is not None and (not variable.isidentifier() or keyword.iskeyword(variable)):
            raise UsageError(say("magics.no_variable_name", magic=magic, name=repr(variable)))
        if options.view not in self.views:
            advice = suggestion(options.view, self.views, key="errors.one_of")
            text = say("errors.cannot_be", option="--view", value=repr(options.view), advice=advice)
            raise UsageError(say("magics.bad_option", magic=magic, error=text))
        try:
            chosen(options.check)
            log_level(options.log)
            options.decimals = digest_decimals(options.digest, options.decimals)
            options.replay_mb = 0
            if self.can_replay:
                options.replay_mb = replay_mb(options.replay, options.replay_limit)
            options.limit = limit_of_text(options.limit, options.keep)
        except ValueError as error:
            raise UsageError(say("magics.bad_option", magic=magic, error=error)) from None
        return options

    def _parser(self) -> MagicArgumentParser:
        parser = MagicArgumentParser(self.magic[1:], description=str(self.does))

        height = say("magics.help.height", least=_HEIGHTS_PX[0], most=_HEIGHTS_PX[1])
        views = say("magics.help.view", views=", ".join(self.views))
        add = parser.add_argument_group(say("magics.help.group.show")).add_argument
        add("--view", metavar="WHICH", default=self.views[0], help=views)
        add("--height", type=int, default=560, metavar="PX", help=height)
        add("--title", help=say("magics.help.title"))
        add("-q", "--quiet", action="store_true", help=say("magics.help.quiet"))
        add = parser.add_argument_group(say("magics.help.group.record")).add_argument
        add("--check", metavar="NAMES", help=say("magics.help.check"))
        for name in ("grads", "values", "digest"):
            told = say(f"magics.help.{name}")
            add(f"--{name}", nargs="?", const=True, default=False, metavar="REGION", help=told)
        add("--decimals", type=int, metavar="N", help=say("magics.help.decimals"))
        log = say("magics.help.log")
        add("--log", nargs="?", const=DEFAULT_LEVEL, type=int, metavar="LEVEL", help=log)
        add("--against", metavar="NAME", help=say("magics.help.against"))
        if self.can_replay:
            limit = say("magics.help.replay_limit")
            add("--replay", action="store_true", help=say("magics.help.replay"))
            add("--replay-limit", type=int, default=DEFAULT_REPLAY_MB, metavar="MB", help=limit)
        add("--profile", action="store_true", help=say("magics.help.profile"))
        add = parser.add_argument_group(say("magics.help.group.keep")).add_argument
        add("-o", "--output", metavar="NAME", help=say("magics.help.output"))
        add("--save", metavar="PATH", help=say("magics.help.save"))
        add("--limit", default=str(DEFAULT_OPS), metavar="OPS", help=say("magics.help.limit"))
        add("--keep", default=KEEPS[0], metavar="WHICH", help=say("magics.help.keep"))
        return parser


CELL_MAGICS: Final = {
    "paddle_trace": CellOptions(
        "%%paddle_trace",
        views=("forward", "backward", "ladder", "table", "time"),
        does=Text("magics.help.trace"),
        examples=Text("magics.help.examples_trace"),
        can_replay=True,
    ),
    "paddle_mem": CellOptions(
        "%%paddle_mem",
        views=("memory", "forward", "backward", "ladder", "table", "time"),
        does=Text("magics.help.memory"),
        examples=Text("magics.help.examples_memory"),
    ),
}
"""Maps the name of a cell magic to its options."""
