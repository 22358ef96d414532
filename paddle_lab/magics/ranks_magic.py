"""``%%paddle_ranks``: runs the code of a cell in several ranks."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Any, Final

import psutil
from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser
from IPython.display import HTML, display

from paddle_lab.magics.options import explained, split_line
from paddle_lab.words import say

if TYPE_CHECKING:
    from argparse import Namespace

    from paddle_lab.launching.cluster import ClusterJob
    from paddle_lab.launching.job import Job
    from paddle_lab.runs.directory import RunDirectory

_NAME: Final = "paddle_ranks"
_FIRST_PICTURE_S: Final = 3.0
_BETWEEN_PICTURES_S: Final = 1.0
_LARGEST_SHARE: Final = 10
"""The next picture comes after this many times the time that the picture took."""
_DISTRIBUTED: Final = "JUPYTER_DISTRIBUTED_WORLD_SIZE"
"""jupyter-distributed 0.1 sets this. It runs each cell, magics included, in all its processes, and
has no call by which one of them could run code in the others."""
_SCRIPT: Final = "cell.py"
_FOLDER: Final = "paddle-lab-run-"
LATEST: Final = "_run"
"""The name of the variable with the latest run."""


def _parser() -> MagicArgumentParser:
    parser = MagicArgumentParser(_NAME, description=say("runs.command.magic"))
    parser.add_argument("-n", dest="ranks", type=int, default=2, help=say("runs.command.n"))
    parser.add_argument("--cluster", metavar="NAME", help=say("runs.command.cluster"))
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
        if _DISTRIBUTED in os.environ and os.environ.get("WORLD_SIZE") != "1":
            raise UsageError(say("runs.distributed"))
        from paddle_lab.opened_run import open_run

        # Without --out, the files are deleted when the shown run is deleted.
        folder = _temporary() if options.out is None else None
        directory = options.out or Path(folder.name if folder else "")
        live = _LiveRun()
        try:
            job = self._job(options, directory / _SCRIPT, live)
            # The empty line replaces the line of the magic, so that line numbers are those of the
            # cell.
            (directory / _SCRIPT).write_text(f"\n{cell}", encoding="utf-8")
            job.run()
        except (OSError, ValueError) as error:
            raise UsageError(str(error)) from None
        finally:
            # Show nothing if no rank has written anything.
            if any(directory.glob("rank-*.jsonl")):
                run = open_run(directory)
                run.folder = folder
                self._shell.user_ns[LATEST] = run
                live.end(run)

    def _job(self, options: Namespace, script: Path, live: _LiveRun) -> Job | ClusterJob:
        is_checked = options.check == "collectives"
        if options.cluster is None:
            from paddle_lab.launching.job import Job

            return Job(
                [str(script.absolute())],
                ranks=options.ranks,
                directory=script.parent,
                options=shlex.split(options.launch),
                checks_collectives=is_checked,
                write=sys.stdout.write,
                tells_findings_at_end=False,
                show=live.show,
            )
        from paddle_lab.launching.cluster import ClusterJob, client_of

        client = client_of(options.cluster, self._shell.user_ns)
        return ClusterJob(
            script,
            client=client,
            checks_collectives=is_checked,
            write=sys.stdout.write,
            show=live.show,
        )


def _temporary() -> TemporaryDirectory[str]:
    """Return a new temporary directory. Remove directories of kernels that have ended."""
    for path in Path(gettempdir()).glob(f"{_FOLDER}*-*"):
        kernel = path.name.removeprefix(_FOLDER).partition("-")[0]
        if kernel.isdigit() and not psutil.pid_exists(int(kernel)):
            shutil.rmtree(path, ignore_errors=True)
    return TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-")


class _LiveRun:
    """The output that shows a run: its state while it runs, and then its result."""

    def __init__(self) -> None:
        self._output: Any = None
        self._next_s = time.monotonic() + _FIRST_PICTURE_S

    def show(self, directory: RunDirectory) -> None:
        """Show the current state of the run, but not so often that this slows the run down."""
        begin_s = time.monotonic()
        if begin_s < self._next_s:
            return
        from paddle_lab.opened_run import Run

        self._put(HTML(Run(directory).newest_html()))
        took_s = time.monotonic() - begin_s
        self._next_s = begin_s + max(_BETWEEN_PICTURES_S, _LARGEST_SHARE * took_s)

    def end(self, run: Any) -> None:
        """Show the run that has ended."""
        self._put(run)

    def _put(self, shown: Any) -> None:
        if self._output is None:
            self._output = display(shown, display_id=True)
        else:
            self._output.update(shown)
