"""The threads of a trace, as the operating system names them."""

from __future__ import annotations

import threading

from paddle_lab.capture.recorder.recorder import Recorder


class TraceThreads:
    """Which threads ran Python, and which of the recorder's numbers they have."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        """For threads that ran ops: the operating system's id to the recorder's number."""
        self.of_python: set[int] = set()
        """Ids of the threads that ran Python when the trace began or ended."""
        self._started: dict[int, int] = {}
        """Ids of the threads that started in between, to their ``Thread.ident``."""

    def note_start(self, thread: threading.Thread) -> None:
        """Note a thread that has begun."""
        self._started[thread.native_id or -1] = thread.ident or -1

    def note(self) -> None:
        """Note which threads run Python now."""
        self.of_python |= {one.native_id or -1 for one in threading.enumerate()}

    def number(self, recorder: Recorder) -> None:
        """Take the recorder's thread numbers when the trace has ended."""
        for thread in threading.enumerate():
            self.note_start(thread)
        self.numbers = {
            native: recorder.threads[identity].number
            for native, identity in (recorder.native_threads | self._started).items()
            if identity in recorder.threads
        }
