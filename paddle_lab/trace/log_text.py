"""Parses the text of Paddle's log, as glog writes it, into columns."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.words import say

Int64s = npt.NDArray[np.int64]

_HEADER: Final = re.compile(
    r"\n\t*([IWEF])(\d{4} \d\d:\d\d:\d\d)\.(\d{6}) +(\d+) ([^\s:\]]+):(\d+)\] ?"
)
"""``I1126 10:51:46.603328 11931 backward.cc:758] ``: severity, month and day with the local time,
thread, file, line. Entries inside a PyLayer are indented."""


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
    parts = _HEADER.split("\n" + data.decode("utf-8", "replace"))
    severity, stamp, micro, thread, file, line, texts = (parts[at::7] for at in range(1, 8))
    # Many entries were written in the same second.
    second_ns = {one: _second_ns(one, year, stamp[0]) for one in dict.fromkeys(stamp)}
    wall_ns = np.array([second_ns[one] for one in stamp], np.int64) + _integers(micro) * 1000
    text = [one.strip("\n") for one in texts]
    return LogEntries(severity, wall_ns, _integers(thread), file, _integers(line), text)


def _integers(texts: Iterable[str]) -> Int64s:
    return np.array(list(map(int, texts)), np.int64)


def _second_ns(stamp: str, year: int, first: str) -> int:
    """Return the time since the epoch from ``"1126 10:51:46"``, which is local time."""
    # An entry of January after an entry of December belongs to the next year.
    its_year = year + (int(stamp[:2]) < int(first[:2]) - 6)
    month, day, (hour, minute, second) = stamp[:2], stamp[2:4], map(int, stamp[5:].split(":"))
    local = (its_year, int(month), int(day), hour, minute, second, 0, 0, -1)
    return int(time.mktime(local)) * 10**9
