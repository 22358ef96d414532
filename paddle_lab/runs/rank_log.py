"""The files of one rank: its calls, the places without progress, and how the rank ended.

There may be a million calls. So they are rows of fixed size in a file of their own, and are kept as
columns. Everything else is one line of JSON for each event.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_MOST_LINE_BYTES: Final = 1 << 24
CALL_ROW: Final = np.dtype([("time_ns", "<i8"), ("call", "<i4"), ("site", "<i4")])
"""A row of the file of calls. A call begins at a site, and ends in another row."""
ENDS: Final = -1
WAITS: Final = -2
"""Instead of a site: the call has ended, or its asynchronous task is waited for."""
CALLS: Final = ".calls"
Place = tuple[str, int]
"""File and line; ``("", 0)`` if unknown."""
NOWHERE: Final[Place] = ("", 0)
NEW_GROUP: Final = -2
"""Instead of a group's number: the calls that create a group."""


@dataclass
class Call:
    """A rank's call of a collective. Times are ns since 1970."""

    rank: int
    op: str
    group: int
    ranks: tuple[int, ...]
    """The ranks of the group."""
    stack: list[Any]
    """The user's frames, innermost first: file, line, function."""
    begin_ns: int
    end_ns: int | None = None
    """When the call ended; ``None`` while it runs. An asynchronous call ends with its task."""
    error: str = ""
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    reduce_op: str = ""
    root: int = -1
    peer: int = -1
    number: int = 0
    """If the call creates a group: which call of ``new_group`` it is on its rank."""
    tensor: str = ""
    """The parameter to which the tensor belongs, as its value or its gradient."""
    layer: str = ""
    variable: str = ""
    """The name of the tensor in the user's line."""
    buckets: list[list[str]] | None = None
    """The groups of parameters whose gradients ``DataParallel`` reduces together, in order."""
    alike: int = 0
    """A hash that is equal for calls that differ only in rank and time."""

    @property
    def place(self) -> Place:
        """The user's line."""
        return place_of(self.stack)

    @property
    def site(self) -> tuple[Place, ...]:
        """The user's lines, innermost first."""
        return tuple((str(file), int(line)) for file, line, _ in self.stack)

    @property
    def is_open(self) -> bool:
        """Whether the call has not returned, or has failed."""
        return self.end_ns is None or bool(self.error)


@dataclass
class Step:
    """An optimizer step that changes parameters whose gradients were reduced over ranks."""

    step: int
    stack: list[Any]
    backward: list[Any]
    """The place of the last backward call before the step."""
    without: dict[str, list[int]] | None
    """The parameters that got no gradient, each with the ranks that reduce its gradient; ``None``
    if no parameter got a gradient."""
    digests: dict[str, tuple[int, list[int]]]
    """At some steps: the checksum of each parameter, and the ranks that reduce its gradient."""
    parameters: int = 0
    """A checksum of the names and shapes of the optimizer's parameters. Only ranks with the same
    checksum are compared by parameter name."""
    rate: float | None = None
    """The learning rate."""


def _no_ints() -> npt.NDArray[np.int64]:
    return np.zeros(0, np.int64)


@dataclass
class RankLog:
    """The events of one rank. :meth:`read` adds new events."""

    path: Path
    rank: int = -1
    about: dict[str, Any] = field(default_factory=dict)
    sites: dict[int, Call] = field(default_factory=dict)
    """What is the same for all calls at a site. A call's time is not."""
    site_of: npt.NDArray[np.int64] = field(default_factory=_no_ints)
    """The site of each call."""
    begins_ns: npt.NDArray[np.int64] = field(default_factory=_no_ints)
    ends_ns: npt.NDArray[np.int64] = field(default_factory=_no_ints)
    """0 for a call that has not ended."""
    ahead_ns: int = 0
    """How far this clock is ahead of the first rank's. It is subtracted from the times of calls."""
    steps: list[Step] = field(default_factory=list)
    dropouts: list[dict[str, Any]] = field(default_factory=list)
    """Checksums of results of collectives before and after dropout, at some calls of each line."""
    still: dict[str, Any] | None = None
    """Where the rank makes no progress, and since when; ``None`` while it makes progress."""
    busy: dict[str, Any] | None = None
    """Where the rank was last seen since its last collective, while it runs ops."""
    exit: dict[str, Any] | None = None
    died_at: Place | None = None
    """The last line in the flight record of a process that died."""
    died_of: str = ""
    """The signal in that record."""
    threads: list[dict[str, Any]] = field(default_factory=list)
    """The errors that ended a thread of the rank: ``name``, ``error``, ``stack`` and
    ``time_ns``."""
    last_ns: int = 0
    call_count: int = 0
    """How many calls are known. If the description of a site is lost, the rest is not known."""
    _errors: dict[int, str] = field(default_factory=dict)
    _read_bytes: int = 0
    _read_calls_bytes: int = 0

    def read(self) -> bool:
        """Read new events. An event that is not written completely is read later.

        Returns
        -------
        bool
            Whether there were new events.
        """
        # A site is written before its calls. So the calls are read first.
        rows = self._new_rows()
        data = _new_bytes(self.path, self._read_bytes)
        data = data[: data.rfind(b"\n") + 1]
        self._read_bytes += len(data)
        for line in data.splitlines():
            with suppress(ValueError, KeyError, TypeError):  # a damaged line
                event = json.loads(line) if len(line) < _MOST_LINE_BYTES else None
                if isinstance(event, dict):
                    self._take(event)
        lost = np.flatnonzero(~np.isin(self.site_of, list(self.sites)))
        self.call_count = int(lost[0]) if len(lost) else len(self.site_of)
        if len(rows):
            time_ns = int(rows["time_ns"][-1])
            self.last_ns = max(self.last_ns, time_ns)
            if self.still is not None and self.still["time_ns"] <= time_ns:
                self.still = None
            if self.busy is not None and self.busy["time_ns"] <= time_ns:
                self.busy = None
        return bool(data) or len(rows) > 0

    def _new_rows(self) -> npt.NDArray[Any]:
        data = _new_bytes(self.path.with_suffix(CALLS), self._read_calls_bytes)
        rows = np.frombuffer(data, CALL_ROW, count=len(data) // CALL_ROW.itemsize)
        self._read_calls_bytes += rows.nbytes
        begins, ends = rows[rows["site"] >= 0], rows[rows["site"] < 0]
        if len(begins):
            self.site_of = np.append(self.site_of, begins["site"])
            self.begins_ns = np.append(self.begins_ns, begins["time_ns"])
            self.ends_ns = np.append(self.ends_ns, np.zeros(len(begins), np.int64))
        ends = ends[ends["call"] < len(self.ends_ns)]
        self.ends_ns[ends["call"]] = np.where(ends["site"] == ENDS, ends["time_ns"], 0)
        return rows

    def call(self, number: int) -> Call:
        """Return a call."""
        call, end_ns = copy(self.sites[int(self.site_of[number])]), int(self.ends_ns[number])
        call.begin_ns = int(self.begins_ns[number]) - self.ahead_ns
        call.end_ns = end_ns - self.ahead_ns if end_ns else None
        call.error = self._errors.get(number, "")
        return call

    def count_in(self, group: int) -> int:
        """Return how many calls the rank has made in a group."""
        sites = [number for number, call in self.sites.items() if call.group == group]
        return int(np.isin(self.site_of, sites).sum())

    def lines_in(self, group: int) -> set[tuple[Place, ...]]:
        """Return the lines of the rank's calls in a group."""
        return {call.site for call in self.sites.values() if call.group == group}

    def _take(self, event: dict[str, Any]) -> None:
        kind, time_ns = event.pop("kind"), int(event.pop("time_ns"))
        if kind == "rank":
            notices = [*self.about.get("notices", ()), *event.get("notices", ())]
            self.rank, self.about = int(event["rank"]), {**event, "notices": notices}
        elif kind == "site":
            self.sites[event["number"]] = call_at(self.rank, event["site"])
        elif kind == "notice":
            self.about.setdefault("notices", []).append(event["text"])
        elif kind == "error":
            self._errors[event["call"]] = event["error"]
        elif kind == "step":
            self.steps.append(Step(**event))
        elif kind == "setup":
            self.about["setup"] = event["setup"] or self.about["setup"]
        elif kind in ("dropout", "thread"):
            getattr(self, f"{kind}s").append({**event, "time_ns": time_ns})
        elif kind in ("still", "busy", "exit"):
            setattr(self, kind, {**event, "time_ns": time_ns})
        if kind in ("moves", "exit"):
            self.still = None
        self.last_ns = max(self.last_ns, time_ns)

    @property
    def open_call(self) -> Call | None:
        """The call in which the rank waits, or the last one that failed."""
        count = self.call_count
        last = self.call(count - 1) if count else None
        return last if last is not None and last.is_open else None

    @property
    def place(self) -> Place:
        """The line where the rank is, or was last seen."""
        if self.died_at and self.died_at != NOWHERE:
            return self.died_at
        count = self.call_count
        last = self.call(count - 1) if count else None
        for stack in (
            self.exit["stack"] if self.exit is not None else None,
            last.stack if last is not None and last.is_open else None,
            self.still["stack"] if self.still is not None else None,
            self.busy["stack"] if self.busy is not None else None,
            last.stack if last is not None else None,
        ):
            if stack:
                return place_of(stack)
        return NOWHERE


def call_at(rank: int, site: dict[str, Any]) -> Call:
    """Return a call of a rank without its times, from what the rank wrote of the site."""
    shape = site.get("shape")
    size = None if shape is None else tuple(shape)
    call = Call(rank, begin_ns=0, **{**site, "ranks": tuple(site["ranks"]), "shape": size})
    call.alike = hash(json.dumps(site, sort_keys=True))
    return call


def place_of(stack: Sequence[Any]) -> Place:
    """Return the innermost line of a stack."""
    return (str(stack[0][0]), int(stack[0][1])) if stack else NOWHERE


def _new_bytes(path: Path, begin: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(begin)
            return file.read()
    except FileNotFoundError:
        return b""
