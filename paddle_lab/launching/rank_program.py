"""The program that Paddle's launcher starts for each rank: the user's script, traced.

Usage: ``rank_program.py SCRIPT ARGS…``. An environment variable names the run's directory.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # Python puts a script's folder here. So far this was the folder of this file.
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[1]))

import traceback
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from paddle_lab.capture.flight.flight_only import FlightOnly
from paddle_lab.capture.flight.flight_record import FLIGHT
from paddle_lab.capture.ranks.rank_session import RankSession
from paddle_lab.flights.folder import KEPT
from paddle_lab.opened_run import trace_path
from paddle_lab.recording import Recording
from paddle_lab.runs.directory import flight_name
from paddle_lab.trace.limit import DEFAULT_OPS, limit_of
from paddle_lab.words import say

DIRECTORY: Final = "PADDLE_LAB_RUN"
LAUNCHER: Final = "PADDLE_LAB_LAUNCHER"
RECORD_ONLY: Final = "PADDLE_LAB_RECORD_ONLY"
"""If this environment variable is set, a rank keeps the flight record and no trace."""


def main(script: str, arguments: list[str]) -> int:
    """Run a script as ``__main__``, traced, and return its exit code."""
    sys.argv = [script, *arguments]
    program = ModuleType("__main__")
    program.__file__ = script
    program.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = program
    code = compile(Path(script).read_bytes(), os.path.abspath(script), "exec")
    return run_rank(
        code,
        program.__dict__,
        Path(os.environ[DIRECTORY]),
        int(os.environ.get("PADDLE_TRAINER_ID", "0")),
        launcher=int(os.environ.get(LAUNCHER, "0")),
    )


def run_rank(
    code: CodeType, namespace: dict[str, Any], directory: Path, rank: int, *, launcher: int = 0
) -> int:
    """Run code as one rank, write its events into a directory, and return its exit code.

    Parameters
    ----------
    launcher
        The process that started the run; 0 for none. If it ends, this rank ends, too.
    """
    title, anchor = say("runs.rank", rank=rank), sys._getframe()  # noqa: SLF001  (documented)
    recording: Recording | FlightOnly
    if os.environ.get(RECORD_ONLY):
        recording = FlightOnly(title, anchor)
    else:
        recording = Recording(title=title, anchor=anchor, limit=limit_of(DEFAULT_OPS, "newest"))
    KEPT[:] = [(directory, flight_name(rank))]
    session = RankSession(directory, rank, lambda: recording.op_count, launcher)
    session.open()
    error: BaseException | None = None
    trace = recording.__enter__()
    try:
        exec(code, namespace)  # noqa: S102  (the user's script)
    except BaseException as raised:  # noqa: BLE001  (reported below)
        error = raised
        if not isinstance(raised, SystemExit):
            _print_without_own_frames(raised)
    session.end(error)
    recording.__exit__(type(error) if error else None, error, None)
    session.close()
    FLIGHT.remove()
    try:
        if trace is not None:
            trace.save(trace_path(directory, rank))
    except OSError as fault:
        sys.stderr.write(say("runs.not_saved", rank=rank, error=str(fault)) + "\n")
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    return int(error is not None)


def _print_without_own_frames(error: BaseException) -> None:
    own = error.__traceback__
    traceback.print_exception(type(error), error, own.tb_next if own else None)
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
