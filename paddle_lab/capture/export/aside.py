"""Runs code in a fork: it sees the user's objects, but cannot change them.

If the code prints, hangs or crashes, the user's process goes on.
"""

from __future__ import annotations

import faulthandler
import io
import os
import pickle
import select
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.replay.threads import with_threads
from paddle_lab.capture.rerun.reach import Unrepeatable

_TRANSLATED: Final = Path("~/.cache/paddle/to_static_tmp").expanduser()
"""The folder in which Paddle writes translated functions; each process has a subfolder."""
Tell = Callable[[Any], None]


def can_fork(paddle: Any) -> bool:
    """Tell whether code may run in a forked process. With a GPU in use, it may not."""
    return sys.platform.startswith("linux") and str(paddle.get_device()) == "cpu"


def run_aside(paddle: Any, run: Callable[[Tell], object]) -> tuple[list[Any], int]:
    """Run code in a fork if possible, else in this process. Its exception is raised here.

    Returns the objects that the code sent, and the signal that ended the fork, or 0.
    """
    if not can_fork(paddle):
        here: list[Any] = []
        run(here.append)
        return here, 0

    def guarded(tell: Tell) -> None:
        try:
            run(tell)
        except Unrepeatable as reason:
            tell(reason)
        except Exception as error:  # noqa: BLE001
            tell(RuntimeError(described(error)))

    told, status = aside(guarded)
    for one in told:
        if isinstance(one, Exception):
            raise one
    return told, status


def aside(run: Callable[[Tell], object], *, seconds: float | None = None) -> tuple[list[Any], int]:
    """Run code in a fork. Return the objects that it sent, and the signal that ended it, or 0.

    Threads do not survive a fork. Paddle's OpenMP may then crash in its first parallel loop, so
    code that dies runs once more with one thread.

    Parameters
    ----------
    run
        Called in the fork with a function that sends an object to this process.
    seconds
        How long the code may take before it is killed.
    """
    told, status = _aside_once(run, seconds)
    if status in (0, signal.SIGKILL):
        return told, status

    def run_alone(tell: Tell) -> None:
        with with_threads(sys.modules["paddle"], 1):
            run(tell)

    return _aside_once(run_alone, seconds)


def _aside_once(run: Callable[[Tell], object], seconds: float | None) -> tuple[list[Any], int]:
    # In a fork, a program that ran before would wait for ever for the threads of its executor.
    # Paddle makes a new executor when the program runs again, here or in the fork.
    DOOR.forget_executors()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of threads
        process = os.fork()
    if process == 0:
        _in_child(run, writing)
    os.close(writing)
    data = b""
    try:
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([reading], [], [], left)[0]:
                os.kill(process, signal.SIGKILL)
                break
            piece = os.read(reading, 1 << 16)
            if not piece:
                break
            data += piece
    except BaseException:  # an interrupt
        os.kill(process, signal.SIGKILL)
        raise
    finally:
        os.close(reading)
        _, status = os.waitpid(process, 0)
        # A fork does not run Paddle's exit handlers, which remove its translated files.
        shutil.rmtree(_TRANSLATED / str(process), ignore_errors=True)
    told, stream = [], io.BytesIO(data)
    while stream.tell() < len(data):
        try:
            told.append(pickle.load(stream))  # noqa: S301  (our own fork wrote it)
        except (EOFError, pickle.UnpicklingError):  # noqa: PERF203  (it ended while it wrote)
            break
    return told, status & 127


def _in_child(run: Callable[[Tell], object], writing: int) -> None:
    try:
        faulthandler.disable()  # a crash in the fork is an expected answer
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        sys.stdout = sys.stderr = io.StringIO()
        warnings.simplefilter("ignore")

        def tell(what: Any) -> None:
            data = pickle.dumps(what)
            while data:
                data = data[os.write(writing, data) :]

        run(tell)
    finally:
        os._exit(0)
