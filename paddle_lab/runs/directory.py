"""The directory of a run: reads the files of the ranks as they grow, and joins their events."""

from __future__ import annotations

import dataclasses
import json
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from paddle_lab.flights.flight import read_flight
from paddle_lab.flights.folder import process_runs
from paddle_lab.flights.layout import paths_of
from paddle_lab.runs.clocks import align
from paddle_lab.runs.collectives import Collectives, joined
from paddle_lab.runs.disagreements import disagreements
from paddle_lab.runs.finding import RunFinding, ranks_said
from paddle_lab.runs.hangs import Waits
from paddle_lab.runs.rank_log import NOWHERE, RankLog
from paddle_lab.runs.rank_states import threads_said
from paddle_lab.runs.setup import setup_findings
from paddle_lab.words import say

STALL_S: Final = 5.0
_RANK_FILE: Final = re.compile(r"rank-(\d+)\.jsonl$")
_ENDS: Final = ("rank-raised", "rank-died")
END_FILE: Final = "run.json"
_GLOO: Final = "gloo/transport"


class RunDirectory:
    """Reads a run from its files, while the run goes on or later.

    Parameters
    ----------
    path
        The directory.
    stall_s
        How long a rank must wait before the wait counts as a hang.
    """

    def __init__(self, path: Path, *, stall_s: float = STALL_S) -> None:
        self.path = path
        self._stall_ns = int(stall_s * 1e9)
        self._logs: dict[int, RankLog] = {}
        self._told: set[tuple[str, tuple[int, ...]]] = set()
        self._hang: RunFinding | None = None
        self._stopped: list[int] | None = None

    def note_stop(self) -> None:
        """Note which ranks still run, because how they end says nothing about the program."""
        self._stopped = [log.rank for log in self.logs if self.is_alive(log)]

    def write_end(self, code: int) -> None:
        """Write the launcher's report of the end, with the hang that the user was told of.

        Ranks that are stopped may still leave the line where they hung.
        """
        is_stopped = self._stopped is not None
        hang = dataclasses.asdict(self._hang) if is_stopped and self._hang is not None else None
        ended = {
            "code": code, "stopped": is_stopped, "time_ns": time.time_ns(), "hang": hang,
            "ranks_stopped": self._stopped or [],
        }  # fmt: skip
        (self.path / END_FILE).write_text(json.dumps(ended), encoding="utf-8")

    def read(self) -> bool:
        """Read new events, and tell whether there were any."""
        for path in self.path.glob("rank-*.jsonl"):
            found = _RANK_FILE.search(path.name)
            if found and int(found[1]) not in self._logs:
                self._logs[int(found[1])] = RankLog(path, rank=int(found[1]))
        news = [log.read() for log in self._logs.values()]
        return any(news)

    @property
    def logs(self) -> list[RankLog]:
        """The logs of the ranks that have written something, in order."""
        return [log for _, log in sorted(self._logs.items())]

    @property
    def world(self) -> int:
        """How many ranks the job has."""
        return max((int(log.about.get("world", 1)) for log in self._logs.values()), default=0)

    @property
    def ended(self) -> dict[str, Any] | None:
        """The launcher's report of how the run ended; ``None`` while the run goes on."""
        try:
            told = json.loads((self.path / END_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return told if isinstance(told, dict) else None

    @property
    def collectives(self) -> Collectives:
        """The collectives, in the order in which they began."""
        channels = joined(self.logs)
        align(self.logs, channels, {log.rank: str(log.about.get("host")) for log in self.logs})
        return Collectives(channels)

    def is_alive(self, log: RankLog) -> bool:
        """Tell whether a rank's process is running. On another machine, assume that it is."""
        if log.exit is not None or self.ended is not None:
            return False
        if log.about.get("host") != socket.gethostname():
            return True
        return process_runs(int(log.about.get("process", 0)))

    def has_died(self, log: RankLog) -> bool:
        """Tell whether a rank's process died without reporting its end."""
        if log.exit is not None or self.is_alive(log) or self._was_stopped(log):
            return False
        if log.died_at is not None:
            return True
        flight = read_flight(self.path, flight_name(log.rank))
        if flight is not None:
            # After a failure the launcher ends the other ranks by SIGTERM.
            has_died = flight.signal != "SIGTERM" or self._failed_first(log)
            log.died_at = flight.last_place if has_died else None
            log.died_of = flight.signal
            return has_died
        has_failure = any(one.exit is not None and one.exit["code"] for one in self.logs)
        return self.ended is None or not (self.ended.get("stopped") or has_failure)

    def _failed_first(self, log: RankLog) -> bool:
        """Tell whether a process got its signal before any other rank failed."""
        # faulthandler writes to the notes at the signal, and nothing is written after it.
        notes = {one.rank: paths_of(self.path, flight_name(one.rank))[1] for one in self.logs}
        failures_ns = [
            int(one.exit["time_ns"]) if one.exit is not None else notes[one.rank].stat().st_mtime_ns
            for one in self.logs
            if (one.exit["code"] if one.exit is not None else notes[one.rank].is_file())
            and not self.is_alive(one)
        ]
        return min(failures_ns) >= notes[log.rank].stat().st_mtime_ns

    def _was_stopped(self, log: RankLog) -> bool:
        """Tell whether a rank ran until the user stopped the run."""
        ranks = (self.ended or {}).get("ranks_stopped")
        return isinstance(ranks, list) and log.rank in ranks

    def tell(
        self, write: Callable[[str], object], show: Callable[..., object] | None, *, at_end: bool
    ) -> None:
        """Read new events. Show the run if there is anything new, and write new findings."""
        has_news, found = self.read(), self.new_findings(at_end=at_end)
        if show is not None and (has_news or found):  # ranks that hang write no events
            show(self)
        for finding in found:
            write(f"{finding}\n")

    def new_findings(self, *, at_end: bool = False) -> list[RunFinding]:
        """Return the findings that were not returned before.

        During the run they are returned only with a hang, because such a run may never end.
        """
        found = self.findings() if at_end or self._may_hang() else []
        if not at_end:
            self._hang = next((one for one in found if one.kind == "hang"), None)
            if self.ended or self._hang is None:
                return []
        new = [one for one in found if (one.kind, one.ranks) not in self._told]
        self._told.update((one.kind, one.ranks) for one in new)
        return new

    def _may_hang(self) -> bool:
        """Tell quickly whether a rank waits long enough for a hang, or no rank makes progress."""
        now_ns, logs = time.time_ns(), self.logs
        calls = [log.open_call for log in logs]
        waited = any(
            call is not None and (call.error or now_ns - call.begin_ns >= self._stall_ns)
            for call in calls
        )
        return waited or all(log.still is not None or log.exit is not None for log in logs)

    def findings(self, collectives: Collectives | None = None) -> list[RunFinding]:
        """Return what is wrong, the earliest problem first.

        Parameters
        ----------
        collectives
            The collectives, if the caller has them.
        """
        logs, collectives = self.logs, self.collectives if collectives is None else collectives
        now_ns = max((log.last_ns for log in logs), default=0)
        now_ns = max(now_ns, int((self.ended or {}).get("time_ns", 0)))
        if any(map(self.is_alive, logs)):
            now_ns = time.time_ns()
        dead = [log for log in logs if self.has_died(log)]  # this also finds where they died
        found = [*disagreements(logs, collectives), *self._raised(), *self._missing()]
        waits = Waits(logs, collectives, now_ns, self._stall_ns, self.has_died)
        if self.ended is not None and self.ended.get("stopped"):
            hang = _kept_hang(self.ended)
        else:
            hang = waits.finding()
        dead = [log for log in dead if hang is None or log.rank not in waits.explained]
        found = sorted([*found, *self._died(dead)], key=lambda finding: finding.time_ns)
        if hang is not None:
            # The finding that explains why a rank is absent comes before the hang.
            causes = [
                one for one in found if one.kind in _ENDS and set(one.ranks) & set(hang.ranks)
            ]
            after = found.index(causes[0]) + 1 if causes else 0
            after = after or sum(
                (one.time_ns, one.kind in _ENDS) <= (hang.time_ns, False) for one in found
            )
            found.insert(after, hang)
        setups = {log.rank: log.about["setup"] for log in logs if log.about.get("setup")}
        found = found or self._raised(gloo=True)
        return [*setup_findings(setups), *found]

    def _raised(self, *, gloo: bool = False) -> list[RunFinding]:
        """Return the first error, since a failed collective follows from another rank's error.

        Parameters
        ----------
        gloo
            Also errors of gloo in a collective. They follow from another rank's end, if there is
            one.
        """
        # The user need not be told of an interrupt.
        own = {
            log.rank: log.exit
            for log in self.logs
            if log.exit is not None
            and log.exit["error"]
            and not self._was_stopped(log)
            and (gloo or log.open_call is None or _GLOO not in log.exit["error"])
            and not log.exit["error"].startswith(KeyboardInterrupt.__name__)
        }
        if not own:
            return []
        first = min(own.values(), key=lambda end: int(end["time_ns"]))
        error, time_ns = first["error"], int(first["time_ns"])
        ranks = tuple(rank for rank, end in own.items() if end["error"] == error)
        message = say("runs.raised.message", rank=ranks_said(ranks), error=error.strip())
        message += "".join(threads_said([self._logs[rank] for rank in ranks]))
        advice = "advice" if len(ranks) < len(self._logs) else "everywhere"
        advice = say(f"runs.raised.{'alone' if self.world == 1 and 'group' in error else advice}")
        lines = {one.rank: one.place for one in self.logs if one.place != NOWHERE}
        return [RunFinding("rank-raised", message, advice, ranks, lines, time_ns)]

    def _died(self, dead: list[RankLog]) -> list[RunFinding]:
        """Return the first rank that died without reporting its end."""
        if not dead:
            return []
        first = min(dead, key=lambda log: log.last_ns)
        who, key = ranks_said([first.rank]), "signal" if first.died_of else "message"
        message = say(f"runs.died.{key}", rank=who, signal=first.died_of)
        lines = {log.rank: log.place for log in self.logs if log.place != NOWHERE}
        key = "sent" if first.died_of == "SIGTERM" else "last" if first.died_of else "advice"
        advice = say(f"runs.died.{key}")
        return [RunFinding("rank-died", message, advice, (first.rank,), lines, first.last_ns)]

    def _missing(self) -> list[RunFinding]:
        """Return the ranks that wrote nothing, if the run has ended."""
        absent = [rank for rank in range(self.world) if rank not in self._logs]
        if not absent or any(map(self.is_alive, self.logs)):
            return []
        message = say("runs.missing.message", ranks=ranks_said(absent))
        advice = say("runs.missing.advice")
        return [RunFinding("rank-missing", message, advice, tuple(absent), severity="warning")]


def _kept_hang(ended: dict[str, Any]) -> RunFinding | None:
    """Return the hang in the report of a stopped run, if there is one that can be read."""
    try:
        hang = dict(ended["hang"])
        places = {int(rank): (str(at[0]), int(at[1])) for rank, at in hang["places"].items()}
        return RunFinding(**{**hang, "ranks": tuple(hang["ranks"]), "places": places})
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None


def flight_name(rank: int | str) -> str:
    """Return the name of a rank's flight record in the run's directory."""
    return f"rank-{rank}"
