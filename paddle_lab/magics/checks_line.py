"""``%paddle_lab checks``: lists the checks, and switches checks off for the notebook."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from paddle_lab.magics.options import explained
from paddle_lab.words import say
from paddle_lab.words.suggestion import suggestion

_MAGIC = "%paddle_lab"


def _parser() -> MagicArgumentParser:
    parser = MagicArgumentParser(_MAGIC[1:], description=say("magics.help.lab"))
    parser.add_argument("command", choices=["checks"], help=say("magics.help.lab_command"))
    parser.add_argument("-x", nargs="+", metavar="NAME", default=[], help=say("magics.help.off"))
    parser.add_argument("-o", nargs="+", metavar="NAME", default=[], help=say("magics.help.on"))
    return parser


class ChecksLineMagic:
    """``%paddle_lab`` in one IPython shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def register(self) -> None:
        """Register the magic."""
        self._shell.register_magic_function(self.run, magic_kind="line", magic_name="paddle_lab")

    def unregister(self) -> None:
        """Remove the magic."""
        self._shell.magics_manager.magics["line"].pop("paddle_lab", None)

    @explained(lambda: _parser().format_help())
    def run(self, line: str) -> Any:
        """List the checks, switch some off with ``-x``, and switch them on again with ``-o``."""
        from paddle_lab.analysis.findings.registry import checks
        from paddle_lab.analysis.findings.switches import OFF
        from paddle_lab.views.text.finding_text import CheckList

        try:
            options = _parser().parse_args(line.split())
        except UsageError as error:
            raise UsageError(say("magics.bad_option", magic=_MAGIC, error=error)) from None
        for name in (*options.x, *options.o):
            if name not in checks():
                advice = suggestion(name, list(checks()), key="errors.there_are", shown=repr)
                text = say("errors.no_check", kind=repr(name), advice=advice)
                raise UsageError(say("magics.bad_option", magic=_MAGIC, error=text))
        OFF.update(options.x)
        OFF.difference_update(options.o)
        if not options.x and not options.o:
            return CheckList()
        off = say("lists.between").join(sorted(OFF))
        print(say("magics.checks_off", names=off) if OFF else say("magics.checks_on"))  # noqa: T201
        return None
