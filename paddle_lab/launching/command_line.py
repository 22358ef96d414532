"""``paddle-lab run train.py``: runs a script in several ranks, from a terminal."""

from __future__ import annotations

import shlex
import sys
import time
from argparse import REMAINDER, ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from paddle_lab.words import say


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = ArgumentParser(prog="paddle-lab", description=say("runs.command.about"))
    run = parser.add_subparsers(dest="command", required=True).add_parser(
        "run", help=say("runs.command.run"), description=say("runs.command.run")
    )
    run.add_argument("-n", dest="ranks", type=int, default=2, help=say("runs.command.n"))
    run.add_argument("--out", type=Path, metavar="DIR", help=say("runs.command.out"))
    run.add_argument("--check", choices=["collectives"], help=say("runs.command.check"))
    run.add_argument("--record-only", action="store_true", help=say("runs.command.record_only"))
    run.add_argument("--launch", default="", metavar="OPTIONS", help=say("runs.command.launch"))
    run.add_argument("script", help=say("runs.command.script"))
    run.add_argument("arguments", nargs=REMAINDER, help=say("runs.command.arguments"))
    chosen = parser.parse_args(arguments)
    directory = chosen.out or new_directory()
    script = Path(chosen.script)
    if not script.is_file():
        parser.error(say("runs.command.no_script", path=chosen.script))
    from paddle_lab.launching.job import Job

    try:
        job = Job(
            [str(script), *chosen.arguments],
            ranks=chosen.ranks,
            directory=directory,
            options=shlex.split(chosen.launch),
            checks_collectives=chosen.check == "collectives",
            records_only=chosen.record_only,
        )
    except (OSError, ValueError) as error:
        parser.error(str(error))
    try:
        code = job.run()
    except KeyboardInterrupt:
        code = 130
    sys.stdout.write(
        say("runs.command.done", path=str(directory), quoted=repr(str(directory))) + "\n"
    )
    return code


def new_directory() -> Path:
    """Return the name of a new directory, made from the current time."""
    return Path(time.strftime("paddle-lab-run-%Y%m%d-%H%M%S"))


if __name__ == "__main__":
    sys.exit(main())
