"""Parses the text of Paddle's log, as glog writes it, into columns."""

from __future__ import annotations

import re
import time
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.words import say

Int64s = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

_STAMP: Final = np.frombuffer(b"0000 00:00:00.000000", np.uint8)
"""Month and day, and the local time; each ``0`` stands for a digit."""
_WRITER: Final = re.compile(r" +(\d+) ([^\s:\]]+):(\d+)")
"""The rest of ``I1126 10:51:46.603328 11931 backward.cc:758] ``: thread, file, line."""


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
    signs = np.frombuffer(data, np.uint8)
    before, starts, closes = _headers(signs)
    text = data.decode("latin-1")  # each character is one byte
    begins = (starts + 1 + len(_STAMP)).tolist()
    heads = [text[at:to] for at, to in zip(begins, closes.tolist(), strict=True)]
    # Only few places in Paddle write entries.
    writers = [found for one in dict.fromkeys(heads) if (found := _WRITER.fullmatch(one))]
    codes = {found[0]: code for code, found in enumerate(writers)}
    writer = np.array([codes.get(one, -1) for one in heads], np.int64)
    before, starts, closes, writer = (one[writer >= 0] for one in (before, starts, closes, writer))
    begins = (closes + 1 + (signs[np.minimum(closes + 1, len(data) - 1)] == ord(" "))).tolist()
    ends = [*before.tolist(), len(data)][1:]
    texts = [text[at:to].strip("\n") for at, to in zip(begins, ends, strict=True)]
    if not data.isascii():
        texts = [one.encode("latin-1").decode("utf-8", "replace") for one in texts]
    return LogEntries(
        list(signs[starts].tobytes().decode()),
        _wall_ns(signs[starts[:, None] + 1 + np.arange(len(_STAMP))], year),
        np.array([int(one[1]) for one in writers], np.int64)[writer],
        np.array([one[2] for one in writers], object)[writer].tolist(),
        np.array([int(one[3]) for one in writers], np.int64)[writer],
        texts,
    )


def _headers(signs: Bytes) -> tuple[Int64s, Int64s, Int64s]:
    """Return the newline before each possible header, its first letter, and the next ``]``."""
    last = len(signs) - len(_STAMP) - 1
    before = np.append(-1, np.flatnonzero(signs[: max(last, 0)] == ord("\n")))
    starts = before + 1
    is_letter = np.zeros(256, np.bool_)
    is_letter[list(b"IWEF\t")] = True
    while True:
        fits = starts < last
        fits[fits] = is_letter[signs[starts[fits]]]
        before, starts = before[fits], starts[fits]
        is_indented = signs[starts] == ord("\t")  # in a PyLayer
        if not is_indented.any():
            break
        starts += is_indented
    stamps = signs[starts[:, None] + 1 + np.arange(len(_STAMP))]
    is_digit = (stamps >= ord("0")) & (stamps <= ord("9"))
    closing = np.append(np.flatnonzero(signs == ord("]")), len(signs))
    closes = closing[np.searchsorted(closing, starts)]
    fits = np.where(ord("0") == _STAMP, is_digit, stamps == _STAMP).all(axis=1)
    fits &= closes < len(signs)
    return before[fits], starts[fits], closes[fits]


def _wall_ns(stamps: Bytes, year: int) -> Int64s:
    """Return times since the epoch from ``mmdd hh:mm:ss.uuuuuu``, which is local time."""
    digits = stamps.astype(np.int64) - ord("0")
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
