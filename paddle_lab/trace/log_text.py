"""Parses the text of Paddle's log, as glog writes it, into columns."""

from __future__ import annotations

import re
import time
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.words import say

Int64s = npt.NDArray[np.int64]

_HEADER: Final = re.compile(
    rb"\n\t*([IWEF])(\d{4} \d\d:\d\d:\d\d\.\d{6}) +(\d+) ([^\s:\]]+):(\d+)\] ?"
)
"""``I1126 10:51:46.603328 11931 backward.cc:758] ``: severity, time, thread, file, line. In a
PyLayer, Paddle indents it. A pattern that begins with a fixed byte is found fast."""
_PARTS: Final = 6
"""Parts of an entry: the five groups of the header, and the text."""


DEFAULT_LEVEL: Final = 3
"""Each op and grad node, with the shapes and dtypes of its tensors."""
LOWEST, HIGHEST = 1, 10
"""The levels that a user can set. Paddle writes little above 6."""


def log_level(level: Any) -> int | None:
    """Return the log level for the argument ``log=``, or ``None`` without a log.

    Raises
    ------
    TypeError
        If the level is neither a whole number nor ``None``.
    ValueError
        If the level is out of range.
    """
    if level is None:
        return None
    if isinstance(level, bool) or not isinstance(level, int):
        raise TypeError(say("errors.log_level", level=repr(level)))
    if not LOWEST <= level <= HIGHEST:
        raise ValueError(say("errors.log_level", level=level))
    return level


class LogEntries(NamedTuple):
    """Entries of the log in the order of writing. The text of an entry may have many lines."""

    severity: list[str]
    """``"I"``, ``"W"``, ``"E"`` or ``"F"``."""
    wall_ns: Int64s
    """Time since the epoch, in whole microseconds."""
    native_thread: Int64s
    """The operating system's id of the thread."""
    file: list[str]
    line: Int64s
    text: list[str]


def read_log(data: bytes, *, year: int) -> LogEntries:
    """Return the entries of a log, without the text before the first entry.

    Parameters
    ----------
    data
        The bytes that glog wrote.
    year
        The year of the first entry, which glog does not write.
    """
    parts: list[bytes] = _HEADER.split(b"\n" + data)
    severity, stamps, threads, files, lines, texts = (parts[i::_PARTS] for i in range(1, 7))
    return LogEntries(
        _decoded(severity),
        _wall_ns(stamps, year),
        np.array(list(map(int, threads)), np.int64),
        _decoded(files),
        np.array(list(map(int, lines)), np.int64),
        [text.strip("\n") for text in _decoded(texts)],
    )


def _decoded(values: list[bytes]) -> list[str]:
    # Decode all texts at once, joined by zero bytes. Neither headers nor C strings contain zero
    # bytes.
    return b"\0".join(values).decode("utf-8", "replace").split("\0") if values else []


def _wall_ns(stamps: list[bytes], year: int) -> Int64s:
    """Parse local times ``mmdd hh:mm:ss.uuuuuu``, and return them in ns since the epoch."""
    signs = np.frombuffer(b"".join(stamps), np.uint8).reshape(-1, 20)
    digits = signs.astype(np.int64) - ord("0")
    day = digits[:, :4] @ (1000, 100, 10, 1)
    hour, minute, second = (digits[:, at : at + 2] @ (10, 1) for at in (5, 8, 11))
    micro = digits[:, 14:] @ (10**5, 10**4, 1000, 100, 10, 1)
    hours, inverse = np.unique(day * 100 + hour, return_inverse=True)
    begins = []
    for one in hours.tolist():
        month_day, its_hour = divmod(one, 100)
        month, its_day = divmod(month_day, 100)
        # An entry of January after an entry of December belongs to the next year.
        its_year = year + (len(day) > 0 and month < day[0] // 100 - 6)
        begins.append(int(time.mktime((its_year, month, its_day, its_hour, 0, 0, 0, 0, -1))))
    seconds = np.array(begins, np.int64)[inverse] + minute * 60 + second
    wall_ns: Int64s = seconds * 10**9 + micro * 1000
    return wall_ns
