"""Finds which rank waits for which other rank, and where that other rank is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from paddle_lab.runs.collectives import Collective, Collectives, odd_ones
from paddle_lab.runs.disagreements import mismatch, places
from paddle_lab.runs.finding import RunFinding, place_said, ranks_said
from paddle_lab.runs.rank_log import NEW_GROUP, Call, RankLog
from paddle_lab.runs.rank_states import RankStates
from paddle_lab.words import say

_START_S: Final = 30


class Waits:
    """Finds what blocks a run at a moment.

    Parameters
    ----------
    logs
        The logs of the ranks.
    collectives
        The collectives of the run.
    now_ns
        The moment: now, or the end of a run that has ended.
    stall_ns
        How long a rank must have waited.
    has_died
        Tells whether the process of a rank died without reporting its end.
    """

    def __init__(
        self,
        logs: Sequence[RankLog],
        collectives: Collectives,
        now_ns: int,
        stall_ns: int,
        has_died: Callable[[RankLog], bool],
    ) -> None:
        self._logs = {log.rank: log for log in logs}
        self._collectives = collectives
        self._now_ns = now_ns
        self._stall_ns = stall_ns
        self._has_died = has_died
        self._states = RankStates(self._logs, has_died)
        opened = {log.rank: log.open_call for log in logs if log.open_call is not None}
        is_held = any(call.error or self._waited_ns(call) >= stall_ns for call in opened.values())
        self.explained = {rank for rank in opened if self._died_waiting(rank)}
        """Ranks that died because another rank of their group was gone."""
        self.waiting = opened if is_held or self.explained else {}

    def _waited_ns(self, call: Call) -> int:
        return (call.end_ns or self._now_ns) - call.begin_ns

    def _died_waiting(self, rank: int) -> bool:
        """Tell whether a rank died in a collective while another rank of the group was gone.

        gloo may end the process if it loses the connection to a rank that has ended.
        """
        return self._has_died(self._logs[rank]) and any(
            self._logs[one].exit is not None for one in self._held(rank).ranks if one in self._logs
        )

    def finding(self) -> RunFinding | None:
        """Return what blocks the run; ``None`` if nothing does."""
        if not self.waiting:
            return self._all_still()
        held = sorted({self._held(rank) for rank in self.waiting}, key=lambda one: one.begin_ns)
        collective, cycle = self._last_in_chain(next((one for one in held if one.absent), held[0]))
        absent = tuple(collective.absent)
        waiting = [rank for rank in self.waiting if self._held(rank) is collective]
        calls, logs = collective.calls, self._logs
        seconds = max(self._waited_ns(calls[rank]) for rank in waiting) // 10**9
        failed = [one for one in waiting if calls[one].error or self._has_died(logs[one])]
        values = {
            "waiting": ranks_said(failed or waiting),
            "n": seconds,
            "op": _op_said(collective),
        }
        lines = places(collective)
        for rank, log in logs.items():
            if rank in absent or rank in self.waiting or log.still is not None:
                lines.setdefault(rank, log.place)
        lines = dict(sorted(lines.items()))
        key = "failed" if failed else "message"
        key = key if absent else "all_failed" if failed else "nobody"
        message = say(f"runs.hang.{key}", absent=ranks_said(absent), **values)
        if not absent:
            ranks, why, advice = self._reason(collective, waiting)
            # If the ranks failed because they disagree, another finding reports that. The start of
            # a job may be slow.
            may_be_slow = seconds < _START_S and not self._numbers(collective)
            if (failed and not why) or (collective.group < 0 and may_be_slow):
                return None
            if (differing := mismatch(collective)) is not None:
                ranks, why, advice = differing.ranks, differing.message, "hang.advice"
            message, advice = f"{message} {why}".rstrip(), say(f"runs.{advice}")
            return RunFinding("hang", message, advice, ranks, lines, collective.begin_ns)
        message += "".join(self._states.sentences(absent)) + self._unread(cycle or [collective])
        message += self._numbers(collective)
        advice = self._advice(collective)
        if cycle and not failed:
            others = [one.absent[0] for one in cycle]
            links = zip([*others[-1:], *others], others, strict=False)
            chain = [say("runs.hang.link", rank=rank, other=other) for rank, other in links]
            message += f" {say('runs.hang.cycle', chain=', '.join(chain))}"
        begin_ns = collective.begin_ns
        apart = self._first_apart(collective, waiting[0], absent[0])
        if apart is not None:
            lines, begin_ns, advice = places(apart), apart.begin_ns, "advice"
            message += " " + say(
                "runs.hang.apart", n=apart.sequence, group=apart.group,
                first=ranks_said([waiting[0]]), mine=place_said(lines[waiting[0]]),
                second=ranks_said([absent[0]]), theirs=place_said(lines[absent[0]]),
            )  # fmt: skip
        return RunFinding("hang", message, say(f"runs.hang.{advice}"), absent, lines, begin_ns)

    def _advice(self, held: Collective) -> str:
        """Return the key of the advice for ranks that wait for an absent one."""
        advice = self._states.advice(held.absent[0])
        is_apart = held.group == NEW_GROUP or self._numbers(held)
        return "groups_advice" if is_apart and advice == "advice" else advice

    def _held(self, rank: int) -> Collective:
        """Return the collective in which a rank waits."""
        return self._collectives.last_of(self._logs[rank])

    def _reason(self, held: Collective, waiting: list[int]) -> tuple[tuple[int, ...], str, str]:
        """Return the ranks that cause a hang of all ranks, why, and the key of the advice."""
        if tags := self._tags(held):
            return tuple(waiting), tags, "hang.tags_advice"
        steps = max(len(self._logs[rank].steps) for rank in waiting)
        for rank, log in self._logs.items():
            # This rank has made its step after the backward call in which the others wait.
            is_ahead = rank in held.calls and len(log.steps) > steps
            if held.op == "backward" and is_ahead and log.steps[-1].without:
                name, *more = log.steps[-1].without
                told = say("runs.hang.ungraded", rank=rank, name=name, more=len(more))
                return (rank,), told, "gradients.advice"
        if numbers := self._numbers(held):
            return tuple(waiting), numbers.strip(), "hang.groups_advice"
        if held.group == NEW_GROUP and self._is_gloo:
            return tuple(waiting), say("runs.hang.keys"), "hang.keys_advice"
        return tuple(waiting), "", "hang.advice"

    def _numbers(self, held: Collective) -> str:
        """Tell if the ranks of a group do not number it alike."""
        made = self._collectives.unlike_in(NEW_GROUP, held.ranks)
        for one in made if held.group > 0 or held.group == NEW_GROUP else ():
            numbers = {rank: call.number for rank, call in one.calls.items()}
            for odd in odd_ones(numbers)[:1]:
                other = next(rank for rank in numbers if numbers[rank] != numbers[odd])
                first, second = ranks_said([odd], begins=True), ranks_said([other])
                values = {"n": numbers[odd], "m": numbers[other]}
                return f" {say('runs.hang.numbers', first=first, second=second, **values)}"
        return ""

    @property
    def _is_gloo(self) -> bool:
        setups = [log.about.get("setup") or {} for log in self._logs.values()]
        return all(one.get("backend") == "gloo" for one in setups)

    def _unread(self, held: Sequence[Collective]) -> str:
        """Tell of a message that was sent to a rank that waits for another message."""
        channels = [one.channel for one in held if one.channel]
        receivers = {receiver for _, receiver in channels}
        for one in self._collectives.channels:
            if one.ends and one.ends not in channels and one.ends[1] in receivers:
                (sender, receiver), last = one.ends, one.collective(one.begins_ns.shape[1] - 1)
                if receiver in last.absent:
                    place = place_said(last.calls[sender].place)
                    told = say("runs.hang.unread", sender=sender, receiver=receiver, place=place)
                    return f" {told}"
        return ""

    def _tags(self, collective: Collective) -> str:
        """Return why gloo does not deliver a message, if its ranks have made other calls before."""
        if collective.channel is None or not self._is_gloo:
            return ""
        calls = [self._logs[rank].count_in(collective.group) for rank in collective.channel]
        if calls[0] == calls[1]:
            return ""
        sender, receiver = collective.channel
        return say(
            "runs.hang.tags", sender=sender, sent=calls[0], receiver=receiver, received=calls[1]
        )

    def _last_in_chain(self, collective: Collective) -> tuple[Collective, list[Collective]]:
        """Follow the chain of ranks that wait for each other to its last collective.

        Returns
        -------
        collective
            The last collective; in a cycle, the collective of the smallest group.
        cycle
            The collectives of a cycle: each waits for a rank that is in the next one. Empty if
            there is no cycle.
        """
        chain = [collective]
        while collective.absent and collective.absent[0] in self.waiting:
            collective = self._held(collective.absent[0])
            if collective in chain:
                cycle = chain[chain.index(collective) :]
                return min(cycle, key=lambda one: (len(one.ranks), one.ranks)), cycle
            chain.append(collective)
        return chain[-1], []

    def _first_apart(self, collective: Collective, waiting: int, absent: int) -> Collective | None:
        """Return the group's first call where two ranks are at different lines of common code."""
        if collective.group == NEW_GROUP:
            return None
        lines = [self._logs[rank].lines_in(collective.group) for rank in (waiting, absent)]
        for one in self._collectives.unlike_in(collective.group, collective.ranks):
            if waiting in one.calls and absent in one.calls:
                mine, theirs = one.calls[waiting].site, one.calls[absent].site
                if mine != theirs and (mine in lines[1] or theirs in lines[0]):
                    return one
        return None

    def _all_still(self) -> RunFinding | None:
        """Return a finding if no rank makes progress and none is in a collective."""
        logs = [log for log in self._logs.values() if log.exit is None and not self._has_died(log)]
        since = [int(log.still["since_ns"]) if log.still else self._now_ns for log in logs]
        if not logs or self._now_ns - max(since) < self._stall_ns:
            return None
        ranks, seconds = sorted(log.rank for log in logs), (self._now_ns - max(since)) // 10**9
        message = say("runs.hang.still", waiting=ranks_said(ranks), n=seconds)
        message += "".join(self._states.sentences(ranks))
        return RunFinding(
            "hang", message, say("runs.hang.still_advice"), tuple(ranks),
            {log.rank: log.place for log in logs}, max(since), "warning",
        )  # fmt: skip


def _op_said(collective: Collective) -> str:
    """Return what the ranks of a collective call."""
    if collective.group == NEW_GROUP:
        return f"new_group({list(collective.ranks)})"
    is_one_op = len({call.op for call in collective.calls.values()}) == 1
    place = say("runs.hang.call", n=collective.sequence, group=collective.group)
    return collective.op if is_one_op or collective.channel else place
