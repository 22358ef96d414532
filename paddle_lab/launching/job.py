"""A run under Paddle's launcher: its processes, its output, and findings while it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

from paddle_lab.capture.ranks.rank_session import CHECK_COLLECTIVES
from paddle_lab.launching import rank_program
from paddle_lab.launching.deaths import deaths
from paddle_lab.launching.rank_output import RankOutput
from paddle_lab.runs.directory import STALL_S, RunDirectory
from paddle_lab.words import say

_LOOK_S: Final = 0.2
_STOP_S: Final = 3.0


class Job:
    """Runs a script in several ranks with ``paddle.distributed.launch``.

    Parameters
    ----------
    script
        The script and its arguments.
    ranks
        How many ranks on this machine.
    directory
        The directory for the files of the run. It must be empty, or not exist.
    options
        More options of Paddle's launcher.
    checks_collectives
        Whether to compare each collective before it runs, and raise where the ranks disagree.
    records_only
        Whether ranks keep only the flight record, and no trace.
    write
        Called with lines of output.
    stall_s
        How long a rank must wait before this is reported as a hang.
    tells_findings_at_end
        Whether to write all findings at the end. A hang is always reported.
    show
        Called with the directory of the run each time that ranks have written something.

    Raises
    ------
    FileExistsError
        If the directory has files.
    OSError
        If the directory cannot be created.
    ValueError
        For fewer than one rank.
    """

    def __init__(
        self,
        script: Sequence[str],
        *,
        ranks: int,
        directory: Path,
        options: Sequence[str] = (),
        checks_collectives: bool = False,
        records_only: bool = False,
        write: Callable[[str], object] = sys.stdout.write,
        stall_s: float = STALL_S,
        tells_findings_at_end: bool = True,
        show: Callable[[RunDirectory], object] | None = None,
    ) -> None:
        if ranks < 1:
            raise ValueError(say("runs.few", n=ranks))
        refuse_files(directory)
        self.directory = directory.absolute()
        self._command = [
            *(sys.executable, "-m", "paddle.distributed.launch"),
            *("--nproc_per_node", str(ranks), "--log_dir", str(self.directory / "logs")),
            *(*options, str(Path(rank_program.__file__)), *script),
        ]
        self._show = show
        self._checks_collectives = checks_collectives
        self._records_only = records_only
        self._write = write
        self._run = RunDirectory(self.directory, stall_s=stall_s)
        self._output = RankOutput(self.directory / "logs", write)
        self._tells_findings_at_end = tells_findings_at_end

    def run(self) -> int:
        """Run the script to its end, write the ranks' output, and return the launcher's exit code.

        An interrupt stops all ranks. In any case, no process of the run is left.
        """
        environment = {
            **os.environ,
            rank_program.DIRECTORY: str(self.directory),
            rank_program.LAUNCHER: str(os.getpid()),
            "PYTHONUNBUFFERED": "1",
        }
        if self._checks_collectives:
            environment[CHECK_COLLECTIVES] = "1"
        if self._records_only:
            environment[rank_program.RECORD_ONLY] = "1"
        with (self.directory / "launcher.log").open("wb") as log:
            process = subprocess.Popen(  # noqa: S603  (what the user asked for)
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=environment, start_new_session=True,
            )  # fmt: skip
            has_ended = False
            try:
                while process.poll() is None:
                    time.sleep(_LOOK_S)
                    self._look()
                has_ended = True
            finally:
                if not has_ended:
                    self._run.note_stop()
                _stop(process, self._family(process.pid))
                self._run.write_end(process.returncode)
                self._output.copy()
        self._look(at_end=self._tells_findings_at_end)
        for death in deaths(self.directory):
            self._write(f"{death}\n")
        if process.returncode and not self._run.logs:
            self._write((self.directory / "launcher.log").read_text(errors="replace"))
        return int(process.returncode)

    def _look(self, *, at_end: bool = False) -> None:
        self._output.copy()
        self._run.tell(self._write, self._show, at_end=at_end)

    def _family(self, launcher: int) -> set[psutil.Process]:
        """Return all processes of the run, also those that go on after their rank has ended."""
        family: set[psutil.Process] = set()
        with suppress(psutil.NoSuchProcess):
            # Each rank has its own session, so no signal to a group reaches all of them.
            found = psutil.Process(launcher)
            family.update([found, *found.children(recursive=True)])
        for one in psutil.process_iter():
            with suppress(psutil.Error):
                if one.environ().get(rank_program.DIRECTORY) == str(self.directory):
                    family.add(one)
        return family


def refuse_files(directory: Path) -> None:
    """Make a directory for a run; raise ``FileExistsError`` if it has files."""
    directory.mkdir(parents=True, exist_ok=True)
    if any(directory.iterdir()):
        raise FileExistsError(say("runs.not_empty", path=str(directory)))


def _stop(process: subprocess.Popen[bytes], family: set[psutil.Process]) -> None:
    """End the launcher and all ranks: first by SIGTERM, then by SIGKILL."""
    left = [member for member in family if member.is_running()]
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        for member in left:
            with suppress(psutil.NoSuchProcess):
                member.send_signal(number)
        _, left = psutil.wait_procs(left, timeout=_STOP_S)
    process.wait()
