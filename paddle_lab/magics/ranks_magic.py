"""``%%paddle_ranks``: runs the code of a cell in several ranks."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser
from IPython.display import display

from paddle_lab.magics.options import explained, split_line
from paddle_lab.words import say

_NAME: Final = "paddle_ranks"
LATEST: Final = "_run"
"""The variable with the latest run."""


def _parser() -> MagicArgumentParser:
    parser = MagicArgumentParser(_NAME, description=say("runs.command.magic"))
    parser.add_argument("-n", dest="ranks", type=int, default=2, help=say("runs.command.n"))
    parser.add_argument("--out", type=Path, metavar="DIR", help=say("runs.command.keep"))
    parser.add_argument("--check", choices=["collectives"], help=say("runs.command.check"))
    parser.add_argument("--launch", default="", metavar="OPTIONS", help=say("runs.command.launch"))
    return parser


class RanksMagic:
    """``%%paddle_ranks`` in one IPython shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def register(self) -> None:
        """Register the magic."""
        self._shell.register_magic_function(self.run, magic_kind="cell", magic_name=_NAME)

    def unregister(self) -> None:
        """Remove the magic."""
        self._shell.magics_manager.magics["cell"].pop(_NAME, None)

    @explained(lambda: _parser().format_help())
    def run(self, line: str, cell: str) -> None:
        """Run the cell's code in several ranks, and show what they did and where they disagree."""
        options, unknown = _parser().parse_known_args(split_line(line, backslash_escapes=False))
        if unknown:
            raise UsageError(say("magics.shows_options", magic=f"%%{_NAME}"))
        from paddle_lab.launching.job import Job
        from paddle_lab.opened_run import open_run

        # Without --out, the files are deleted together with the run that is shown.
        folder = TemporaryDirectory(prefix="paddle-lab-run-") if options.out is None else None
        directory = options.out or Path(folder.name if folder else "")
        script = directory / "cell.py"
        try:
            job = Job(
                [str(script.absolute())],
                ranks=options.ranks,
                directory=directory,
                options=shlex.split(options.launch),
                checks_collectives=options.check == "collectives",
                write=sys.stdout.write,
                tells_findings_at_end=False,
            )
        except OSError as error:
            raise UsageError(str(error)) from None
        # The magic's own line is the cell's first line.
        script.write_text(f"\n{cell}", encoding="utf-8")
        try:
            job.run()
        finally:
            # Show nothing if no rank has written anything.
            if any(directory.glob("rank-*.jsonl")):
                run = open_run(directory)
                run.folder = folder
                self._shell.user_ns[LATEST] = run
                display(run)
