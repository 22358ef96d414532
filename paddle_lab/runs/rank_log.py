"""The log of one rank: the calls, the places without progress, and how the rank ended."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

_MOST_LINE_BYTES: Final = 1 << 24
_TIMED: Final = re.compile(
    rb'\{"kind":"(?:begin|end)","time_ns":(\d+),"id":(\d+)(?:,"site":(\d+))?\}$'
)
"""The form of the usual events. There may be a million of them, so they are read fast."""
Place = tuple[str, int]
"""File and line; ``("", 0)`` if unknown."""
NOWHERE: Final[Place] = ("", 0)


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
    tensor: str = ""
    """The parameter to which the tensor belongs, as its value or its gradient."""
    layer: str = ""
    variable: str = ""
    """The name of the tensor in the user's line."""
    buckets: list[list[str]] | None = None
    """The groups of parameters whose gradients ``DataParallel`` reduces together, in order."""
    alike: int = 0
    """A hash that is equal for calls that differ only in rank and time."""
    shifted_ns: int = 0
    """How many ns were subtracted from the times, because the clock of the machine is ahead."""

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


@dataclass
class RankLog:
    """The events of one rank. :meth:`read` adds new events."""

    path: Path
    rank: int = -1
    about: dict[str, Any] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
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
    last_ns: int = 0
    _sites: dict[int, Call] = field(default_factory=dict)
    _read_bytes: int = 0

    def read(self) -> bool:
        """Read new events. An event that is not written completely is read later.

        Returns
        -------
        bool
            Whether there were new events.
        """
        with self.path.open("rb") as file:
            file.seek(self._read_bytes)
            data = file.read()
        data = data[: data.rfind(b"\n") + 1]
        self._read_bytes += len(data)
        calls, sites = self.calls, self._sites
        for line in data.splitlines():
            try:
                if (timed := _TIMED.match(line)) is None:
                    event = json.loads(line) if len(line) < _MOST_LINE_BYTES else None
                    if isinstance(event, dict):
                        self._take(event)
                    continue
                time, number, site = timed.groups()
                time_ns = int(time)
                if site is None:
                    call = calls[int(number)]
                    call.end_ns = time_ns - call.shifted_ns
                else:
                    call = Call.__new__(Call)  # a copy, in a tenth of the time
                    vars(call).update(vars(sites[int(site)]))
                    call.begin_ns = time_ns
                    calls.append(call)
                self.still = self.busy = None
                self.last_ns = time_ns
            except (ValueError, KeyError, TypeError, IndexError):  # a damaged line
                continue
        return bool(data)

    def _take(self, event: dict[str, Any]) -> None:
        kind, time_ns = event.pop("kind"), int(event.pop("time_ns"))
        if kind == "rank":
            notices = [*self.about.get("notices", ()), *event.get("notices", ())]
            self.rank, self.about = int(event["rank"]), {**event, "notices": notices}
        elif kind == "site":
            self._sites[event["number"]] = call_at(self.rank, event["site"], 0)
        elif kind == "notice":
            self.about.setdefault("notices", []).append(event["text"])
        elif kind in ("end", "wait"):
            call = self.calls[event["id"]]
            call.end_ns = time_ns - call.shifted_ns if kind == "end" else None
            call.error = event.get("error", call.error)
        elif kind == "step":
            self.steps.append(Step(**event))
        elif kind == "setup":
            self.about["setup"] = event["setup"] or self.about["setup"]
        elif kind == "dropout":
            self.dropouts.append({**event, "time_ns": time_ns})
        elif kind in ("still", "busy", "exit"):
            setattr(self, kind, {**event, "time_ns": time_ns})
        if kind in ("end", "moves", "exit"):
            self.still = None
        self.last_ns = time_ns

    @property
    def open_call(self) -> Call | None:
        """The call in which the rank waits, or the last one that failed."""
        last = self.calls[-1] if self.calls else None
        return last if last is not None and last.is_open else None

    @property
    def place(self) -> Place:
        """The line where the rank is, or was last seen."""
        if self.died_at and self.died_at != NOWHERE:
            return self.died_at
        for stack in (
            self.exit["stack"] if self.exit is not None else None,
            self.open_call.stack if self.open_call is not None else None,
            self.still["stack"] if self.still is not None else None,
            self.busy["stack"] if self.busy is not None else None,
            self.calls[-1].stack if self.calls else None,
        ):
            if stack:
                return place_of(stack)
        return NOWHERE


def call_at(rank: int, site: dict[str, Any], begin_ns: int) -> Call:
    """Return a rank's call, from the description that the rank wrote of the line."""
    shape = site.get("shape")
    size = None if shape is None else tuple(shape)
    call = Call(rank, begin_ns=begin_ns, **{**site, "ranks": tuple(site["ranks"]), "shape": size})
    call.alike = hash(json.dumps(site, sort_keys=True))
    return call


def place_of(stack: Sequence[Any]) -> Place:
    """Return the innermost line of a stack."""
    return (str(stack[0][0]), int(stack[0][1])) if stack else NOWHERE
