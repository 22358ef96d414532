"""The help that ``%%paddle_trace?`` shows, on one screen."""

from __future__ import annotations

from argparse import Action, ArgumentParser

from paddle_lab.analysis.tables.text_table import padded
from paddle_lab.words import say


def help_screen(magic: str, parser: ArgumentParser, does: str, examples: str) -> str:
    """Return a magic's help: its purpose, examples, and a line for each option.

    Parameters
    ----------
    magic
        The magic as typed.
    parser
        The parser of the options, in groups with titles.
    does
        What the magic does.
    examples
        Examples of the use of the magic, one per line.
    """
    lines = [f"{magic} [{say('magics.help.options')}]", "", does, "", say("magics.help.examples")]
    lines += [f"  {line}" for line in examples.splitlines()]
    groups = [
        (group.title, [one for one in group._group_actions if one.option_strings])  # noqa: SLF001
        for group in parser._action_groups  # noqa: SLF001
    ]
    width = max(len(_written(option)) for _, options in groups for option in options) + 3
    for title, options in groups:
        if options:
            lines += ["", title or ""]
            lines += [f"  {padded(_written(one), width)}{one.help}" for one in options]
    return "\n".join([*lines, "", say("magics.help.more")])


def _written(option: Action) -> str:
    value = option.metavar or option.dest.upper()
    takes = "" if option.nargs == 0 else f" [{value}]" if option.nargs == "?" else f" {value}"
    return ", ".join(option.option_strings) + takes
