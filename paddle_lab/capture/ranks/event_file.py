"""The file of one rank: one line of JSON for each event, written as it happens."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path


class EventFile:
    """Appends events. Each is written by one system call, so a crash does not lose it.

    Parameters
    ----------
    path
        The file. It must not exist yet: two runs in one directory would be mixed up.

    Raises
    ------
    OSError
        If the file exists or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._lock = threading.Lock()
        self.call_count = 0
        """How many collectives have begun."""

    def next_call(self) -> int:
        """Return the number of a call that is about to begin."""
        with self._lock:
            self.call_count += 1
            return self.call_count - 1

    def note(self, kind: str, **values: object) -> None:
        """Write one event. Do nothing after :meth:`close`, or if the disk is full."""
        line = json.dumps({"kind": kind, "time_ns": time.time_ns(), **values})
        with self._lock:
            if self._file < 0:
                return
            try:
                os.write(self._file, f"{line}\n".encode("utf-8", "replace"))
            except OSError:
                os.close(self._file)
                self._file = -1

    def close(self) -> None:
        """Stop writing."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
