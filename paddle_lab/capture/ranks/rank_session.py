"""Records one rank of a run, from the start to the end of the rank's program."""

from __future__ import annotations

import os
import re
import socket
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.ranks.collective_check import CollectiveCheck
from paddle_lab.capture.ranks.collective_hooks import CollectiveHooks
from paddle_lab.capture.ranks.data_parallel import DataParallelHooks
from paddle_lab.capture.ranks.dropout_masks import DropoutMasks
from paddle_lab.capture.ranks.event_file import EventFile
from paddle_lab.capture.ranks.gradient_names import GradientNames
from paddle_lab.capture.ranks.patch_set import PatchSet
from paddle_lab.capture.ranks.rank_setup import rank_setup
from paddle_lab.capture.ranks.user_stack import error_stack
from paddle_lab.capture.ranks.watchdog import Watchdog

_FRAME: Final = re.compile(r'^ *File "(.+)", line (\d+), in ', re.MULTILINE)
CHECK_COLLECTIVES: Final = "PADDLE_LAB_CHECK_COLLECTIVES"
"""If this environment variable is set, each collective is compared before it runs."""


class RankSession:
    """Installs the hooks of a rank and removes them.

    Parameters
    ----------
    directory
        The run's directory.
    rank
        This process's rank.
    op_count
        Returns how many ops have run.
    launcher
        The process that started the run; 0 for none. If it ends, this rank ends, too.

    Raises
    ------
    OSError
        If the directory cannot be written, or has a file of this rank.
    PaddleUnavailableError
        If there is no Paddle that can be traced.
    """

    def __init__(
        self, directory: Path, rank: int, op_count: Callable[[], int], launcher: int = 0
    ) -> None:
        paddle = require_paddle()
        self._events = EventFile(directory / f"rank-{rank}.jsonl")
        self._events.note(
            "rank",
            rank=rank,
            world=int(os.environ.get("PADDLE_TRAINERS_NUM", "1")),
            process=os.getpid(),
            host=socket.gethostname(),
            setup=self._events.attempt(rank_setup) or {},
            command=sys.argv,
            notices=DOOR.notices({"ranks"}),
        )
        self._watch = partial(Watchdog, self._events, op_count, launcher)
        self._parts: list[PatchSet] = []
        self._check: CollectiveCheck | None = None
        if DOOR.has("collectives") and DOOR.has("optimizers") and DOOR.has("backward"):
            names = GradientNames(paddle.nn.Layer)
            masks = DropoutMasks(paddle, self._events)
            collectives = CollectiveHooks(paddle, self._events, names, masks)
            if os.environ.get(CHECK_COLLECTIVES) and DOOR.has("collective_check"):
                collectives.check = self._check = CollectiveCheck(rank)
            reducers = DataParallelHooks(paddle, self._events, collectives, names)
            self._parts = [masks, collectives, reducers]

    def open(self) -> None:
        """Install the hooks. The trace opens after this call and ends before :meth:`close`."""
        for part in self._parts:
            part.open()
        self._watchdog = self._watch()
        self._excepthook, threading.excepthook = threading.excepthook, self._end_thread

    def _end_thread(self, ended: Any) -> None:
        """Write the error that ends a thread: the main thread may wait for the thread's work."""
        self._events.attempt(self._note_thread, ended)
        self._excepthook(ended)

    def _note_thread(self, ended: Any) -> None:
        if not issubclass(ended.exc_type, SystemExit):
            value, thread = ended.exc_value, ended.thread
            told = str(value.args[0] if value.args else value)
            # An error in a DataLoader's worker has the worker's traceback as its text.
            frames = _FRAME.findall(told)
            stack = error_stack(value) or [(file, int(line), "") for file, line in frames[-1:]]
            error = told.splitlines()[-1] if frames else f"{ended.exc_type.__name__}: {value}"
            self._events.note("thread", name=thread and thread.name, error=error, stack=stack)

    def end(self, error: BaseException | None) -> None:
        """Write how the program ended. If ranks compare their calls, tell the other ranks."""
        code = error.code if isinstance(error, SystemExit) else int(error is not None)
        is_failure = error is not None and not isinstance(error, SystemExit)
        self._events.note(
            "exit",
            code=code if isinstance(code, int) else int(code is not None),
            error=f"{type(error).__name__}: {error}" if is_failure else "",
            stack=error_stack(error),
        )

        if self._check is not None:
            self._events.attempt(self._check.end, error_stack(error))

    def close(self) -> None:
        """Remove the hooks."""
        if threading.excepthook == self._end_thread:
            threading.excepthook = self._excepthook
        self._watchdog.close()
        for part in reversed(self._parts):
            part.close()
        self._events.close()
