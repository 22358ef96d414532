"""Parses the text of Paddle's log, as glog writes it, into columns."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.words import say

Int64s = npt.NDArray[np.int64]

_HEADER: Final = re.compile(
    r"\n\t*([IWEF][0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}"
    r" +[0-9]{1,18} [^ :\n\]\0]+:[0-9]{1,18})\] ?"
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


def split_log(data: bytes) -> list[str]:
    """Return the header and the text of each entry, in turn. ``split_log.c`` does the same."""
    return _HEADER.split("\n" + data.decode("utf-8", "replace"))[1:]


def read_log(
    data: bytes, *, year: int, split: Callable[[bytes], list[str]] = split_log
) -> LogEntries:
    """Return the entries of a log, without the text before the first entry.

    Parameters
    ----------
    data
        The bytes that glog wrote.
    year
        The year of the first entry, which glog does not write.
    split
        :func:`split_log` or its native twin.
    """
    parts = split(data)
    headers, texts = parts[::2], parts[1::2]
    # Many entries were written in the same second, and by the same line of Paddle.
    stamp, stamp_codes = _distinct([one[:14] for one in headers])
    writer, writer_codes = _distinct([one[21:] for one in headers])
    second_ns = np.array([_second_ns(one[1:], year, stamp[0][1:]) for one in stamp], np.int64)
    micro = np.array([int(one[15:21]) for one in headers], np.int64)
    fields = [re.split("[ :]+", one)[1:] for one in writer]
    threads, lines = (np.array([int(one[at]) for one in fields], np.int64) for at in (0, 2))
    files = np.array([one[1] for one in fields], object)
    return LogEntries(
        [one[0] for one in headers],
        second_ns[stamp_codes] + micro * 1000,
        threads[writer_codes],
        files[writer_codes].tolist(),
        lines[writer_codes],
        [one.strip("\n") for one in texts],
    )


def _distinct(texts: list[str]) -> tuple[list[str], npt.NDArray[np.intp]]:
    """Return the distinct texts, and the position of each text among them."""
    positions = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    return list(positions), np.array([positions[text] for text in texts], np.intp)


def _second_ns(stamp: str, year: int, first: str) -> int:
    """Return the time since the epoch from ``"1126 10:51:46"``, which is local time."""
    # An entry of January after an entry of December belongs to the next year.
    its_year = year + (int(stamp[:2]) < int(first[:2]) - 6)
    month, day, (hour, minute, second) = stamp[:2], stamp[2:4], map(int, stamp[5:].split(":"))
    local = (its_year, int(month), int(day), hour, minute, second, 0, 0, -1)
    return int(time.mktime(local)) * 10**9
