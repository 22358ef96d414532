"""Sentences on where the ranks are that others wait for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from paddle_lab.runs.finding import place_said, ranks_said
from paddle_lab.runs.rank_log import NOWHERE, RankLog, place_of
from paddle_lab.words import say

_MOST: Final = 4


class RankStates:
    """Tells what ranks do that have not joined a collective.

    Parameters
    ----------
    logs
        The log of each rank.
    has_died
        Tells whether the process of a rank died without reporting its end.
    """

    def __init__(self, logs: Mapping[int, RankLog], has_died: Callable[[RankLog], bool]) -> None:
        self._logs = logs
        self._has_died = has_died

    def sentences(self, ranks: Sequence[int]) -> list[str]:
        """Return sentences on where ranks are. Ranks that do the same share a sentence."""
        alike: dict[tuple[Any, ...], list[int]] = {}
        for rank in ranks:
            _, key, values = self._of(rank)
            alike.setdefault((key, *values.items()), []).append(rank)
        told = []
        for (key, *pairs), same in list(alike.items())[:_MOST]:
            who = {"ranks": ranks_said(same, begins=True), "who": ranks_said(same), "n": len(same)}
            told.append(f" {say(f'runs.state.{key}', **who, **dict(pairs))}")
        return told + threads_said([self._logs[one] for one in ranks if one in self._logs])

    def advice(self, rank: int) -> str:
        """Return the key of the advice for a rank that others wait for."""
        return self._of(rank)[0]

    def _of(self, rank: int) -> tuple[str, str, dict[str, Any]]:
        """Return the key of the advice, and the key and the values of a sentence on a rank."""
        log = self._logs.get(rank)
        if log is None or log.place == NOWHERE:
            return "advice", "missing", {}
        values = {"place": place_said(log.place)}
        if log.exit is not None:
            code = log.exit["code"]
            key = "raised" if log.exit["error"] else "left" if code else "ended"
            return "gone_advice", key, {**values, "code": code}
        if self._has_died(log):
            key = "killed" if log.died_of else "died"
            return "gone_advice", key, {**values, "signal": log.died_of}
        if (call := log.open_call) is not None:
            op = call.op if call.peer < 0 else say(f"runs.peer.{call.op}", peer=call.peer)
            return "advice", "waits", {**values, "op": op}
        if log.still is None:
            return "busy_advice", "runs", values
        return "busy_advice", "still", {**values, "does": _does_said(log.still)}


def threads_said(logs: Sequence[RankLog]) -> list[str]:
    """Return sentences on the errors that ended a thread of a rank."""
    return [
        " " + say(
            "runs.state.thread", rank=log.rank, name=one["name"], error=one["error"],
            place=place_said(place_of(one["stack"])),
        )
        for log in logs[:_MOST]
        for one in log.threads[:1]
        if log.exit is None or one["time_ns"] <= log.exit["time_ns"]
    ]  # fmt: skip


def _does_said(still: dict[str, Any]) -> str:
    """Return what a rank does where no op runs."""
    does = say(f"flights.stall.{still.get('state', 'waits')}", detail=still.get("detail", ""))
    places = [place_said(place_of(stack)) for stack in still.get("workers", ())]
    does += say("runs.state.workers", places=", ".join(places)) if places else ""
    others = [
        f"`{name}`: {place_said(place_of([line]))}" for name, line in still.get("threads", ())
    ]
    return does + (say("runs.state.threads", places=", ".join(others)) if others else "")
