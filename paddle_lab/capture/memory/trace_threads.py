"""The threads of a trace, as the operating system names them."""

from __future__ import annotations

import threading

from paddle_lab.capture.recorder.recorder import Recorder


class TraceThreads:
    """Which threads ran Python, and which of the recorder's numbers they have."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        """The operating system's ids to the recorder's numbers."""
        self.reused: set[int] = set()
        """Numbers of threads that have ended: Python may have given their identity to others."""
        self.of_python: set[int] = set()
        """Ids of those that ran Python when the trace began or ended."""

    def note(self) -> None:
        """Note which threads run Python now."""
        self.of_python |= {one.native_id or -1 for one in threading.enumerate()}

    def number(self, recorder: Recorder) -> None:
        """Take the recorder's numbers, now that the trace is over."""
        states, alive = recorder.threads, threading.enumerate()
        living = {thread.native_id for thread in alive}
        self.numbers |= recorder.native_threads
        self.reused = {number for native, number in self.numbers.items() if native not in living}
        self.numbers |= {
            thread.native_id: states[thread.ident].number
            for thread in alive
            if thread.ident in states and thread.native_id is not None
        }
