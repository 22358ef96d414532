"""The two files of one rank: the begin and end of each collective, and all other events."""

from __future__ import annotations

import json
import os
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from paddle_lab.runs.rank_log import CALLS, ENDS, WAITS
from paddle_lab.words import say

_PACK_ROW: Final = struct.Struct("<qii").pack
"""Packs the numbers of a row (``CALL_ROW``)."""

_Result = TypeVar("_Result")


class EventFile:
    """Appends events to files. One system call writes an event, so a crash does not lose events.

    Parameters
    ----------
    path
        The file of the events in JSON. The calls get a file with the same name and another ending.
        They must not exist yet: two runs in one directory would be mixed up.

    Raises
    ------
    OSError
        If the file exists or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        self._file = os.open(path, flags, 0o644)
        self._calls = os.open(path.with_suffix(CALLS), flags, 0o644)
        self._lock = threading.Lock()
        self._sites: dict[tuple[object, ...], int] = {}
        self._faults: set[str] = set()
        self.call_count = 0
        """How many collectives have begun."""

    def begin(self, site: dict[str, object]) -> int:
        """Write that a collective begins, and return its number.

        Parameters
        ----------
        site
            What is the same for all calls of the line. It is written only once. The values must be
            hashable.
        """
        key = tuple(site.values())
        number = self._sites.get(key)
        if number is None:
            number = self._sites.setdefault(key, len(self._sites))
            self.note("site", number=number, site=site)
        with self._lock:
            call = self.call_count
            self.call_count += 1
            self._append(_PACK_ROW(time.time_ns(), call, number), self._calls)
        return call

    def wait(self, call: int) -> None:
        """Write that the program waits for an asynchronous call."""
        self._end(call, WAITS)

    def end(self, call: int, error: str = "") -> None:
        """Write that a collective ended, and its error."""
        if error:
            self.note("error", call=call, error=error)
        self._end(call, ENDS)

    def _end(self, call: int, how: int) -> None:
        with self._lock:
            self._append(_PACK_ROW(time.time_ns(), call, how), self._calls)

    def note(self, kind: str, **values: object) -> None:
        """Write one event. Do nothing after :meth:`close`, or if the disk is full."""
        line = json.dumps({"kind": kind, "time_ns": time.time_ns(), **values})
        with self._lock:
            self._append(f"{line}\n".encode("utf-8", "replace"), self._file)

    def attempt(self, action: Callable[..., _Result], *args: Any) -> _Result | None:
        """Run Paddle Lab's own code. If it fails, return ``None``, so that the user's call runs."""
        try:
            return action(*args)
        except Exception as error:  # noqa: BLE001
            self._tell_fault(error)
            return None

    def _tell_fault(self, error: Exception) -> None:
        """Write, once for each error, that a part of the record is missing."""
        text = say("runs.fault", fault=f"{type(error).__name__}: {error}")
        if text not in self._faults:
            self._faults.add(text)
            self.note("notice", text=text)

    def _append(self, data: bytes, file: int) -> None:
        if self._file >= 0:
            try:
                os.write(file, data)
            except OSError:
                self._close()

    def close(self) -> None:
        """Stop writing."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            os.close(self._calls)
            self._file = -1
