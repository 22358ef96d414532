"""Joins the ranks' calls: the n-th call in a group is one collective on all ranks of the group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paddle_lab.runs.rank_log import Call, RankLog

Ints = npt.NDArray[np.int64]
NEVER: Final = int(np.iinfo(np.int64).max)
_Key = tuple[int, tuple[int, int] | None, tuple[int, ...]]
_ABSENT: Final = -1
_NONE: Final = np.zeros(0, np.int64)


@dataclass(eq=False)
class Collective:
    """One collective: the calls of all ranks that have joined the collective."""

    group: int
    sequence: int
    """Its number in the group, or among the messages from one rank to another; from 1."""
    channel: tuple[int, int] | None
    """The sender and the receiver of a message; ``None`` if the whole group takes part."""
    calls: dict[int, Call] = field(default_factory=dict)
    """Maps a rank to its call."""

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that must take part in the collective."""
        return self.channel or next(iter(self.calls.values())).ranks

    @property
    def absent(self) -> list[int]:
        """The ranks that have not called the collective."""
        return [rank for rank in self.ranks if rank not in self.calls]

    @property
    def op(self) -> str:
        """The operation, as most ranks called it."""
        if self.channel is not None:
            return "send/recv"
        return Counter(call.op for call in self.calls.values()).most_common(1)[0][0]

    @property
    def begin_ns(self) -> int:
        """When the first rank called the collective."""
        return min(call.begin_ns for call in self.calls.values())

    @property
    def waited_ns(self) -> dict[int, int]:
        """Maps each rank to the time for which it waited for the last rank."""
        last = max(call.begin_ns for call in self.calls.values())
        return {rank: last - call.begin_ns for rank, call in sorted(self.calls.items())}


class Channel:
    """The collectives of a group, or the messages from one rank to another, as columns.

    Each table has a row for each of :attr:`logs`, and a column for each collective.

    Parameters
    ----------
    group
        The number of the group.
    ends
        The sender and the receiver of messages, else ``None``.
    calls
        The numbers of the calls of each rank, the lowest rank first.
    """

    def __init__(
        self, group: int, ends: tuple[int, int] | None, calls: Sequence[tuple[RankLog, Ints]]
    ) -> None:
        self.group = group
        self.ends = ends
        self.logs = [log for log, _ in calls]
        shape = len(calls), max(len(own) for _, own in calls)
        self._numbers = np.full(shape, _ABSENT, np.int64)
        for row, (_, own) in zip(self._numbers, calls, strict=True):
            row[: len(own)] = own
        self._made: dict[int, Collective] = {}

    def table(self, of: Callable[[RankLog], Ints], absent: int) -> Ints:
        """Return a number for each call: ``of`` returns the numbers of all calls of a rank."""
        found = np.full(self._numbers.shape, absent, np.int64)
        for row, numbers, log in zip(found, self._numbers, self.logs, strict=True):
            is_there = numbers != _ABSENT
            row[is_there] = of(log)[numbers[is_there]]
        return found

    def at_sites(self, of: Callable[[Call], int], absent: int = 0) -> Ints:
        """Return a number for each call that is the same for all calls of a site."""

        def numbers(log: RankLog) -> Ints:
            by_site = np.zeros(max(log.sites) + 1, np.int64)
            for site, call in log.sites.items():
                by_site[site] = of(call)
            found: Ints = by_site[log.site_of[: log.call_count]]
            return found

        return self.table(numbers, absent)

    @cached_property
    def begins_ns(self) -> Ints:
        """When each call began; ``NEVER`` where a rank is absent."""
        return self.table(lambda log: log.begins_ns - log.ahead_ns, NEVER)

    @cached_property
    def is_complete(self) -> npt.NDArray[np.bool_]:
        """Whether all ranks have called a collective."""
        members = 2 if self.ends else self.at_sites(lambda call: len(call.ranks)).max(axis=0)
        return np.asarray((self._numbers != _ABSENT).sum(axis=0) == members)

    @cached_property
    def unlike(self) -> list[Collective]:
        """The collectives in which the ranks' calls differ; of equal ones only the first."""
        alike = self.at_sites(lambda call: call.alike)
        first = alike[(self._numbers != _ABSENT).argmax(axis=0), range(alike.shape[1])]
        columns = np.flatnonzero(((alike != first) & (self._numbers != _ABSENT)).any(axis=0))
        _, at = np.unique(alike[:, columns], axis=1, return_index=True)
        return [self.collective(column) for column in sorted(columns[at].tolist())]

    def collective(self, column: int) -> Collective:
        """Return one of the collectives."""
        if column not in self._made:
            numbers = self._numbers[:, column].tolist()
            calls = {
                log.rank: log.call(number)
                for log, number in zip(self.logs, numbers, strict=True)
                if number != _ABSENT
            }
            self._made[column] = Collective(self.group, column + 1, self.ends, calls)
        return self._made[column]

    def column_of(self, rank: int, number: int) -> int | None:
        """Return the collective to which a call of a rank belongs; ``None`` if to no one here."""
        for log, numbers in zip(self.logs, self._numbers, strict=True):
            if log.rank == rank:
                return next(iter(np.flatnonzero(numbers == number).tolist()), None)
        return None


class Collectives(Sequence[Collective]):
    """The collectives of a run, in the order in which they began. They are made when asked for."""

    def __init__(self, channels: Sequence[Channel]) -> None:
        self.channels = channels
        begins_ns = [channel.begins_ns.min(axis=0) for channel in channels]
        at = [np.full(len(one), number) for number, one in enumerate(begins_ns)]
        columns = [np.arange(len(one)) for one in begins_ns]
        self._begins_ns = np.concatenate([_NONE, *begins_ns])
        order = np.argsort(self._begins_ns, kind="stable")
        self._begins_ns = self._begins_ns[order]
        self._at = np.concatenate([_NONE, *at])[order]
        self._columns = np.concatenate([_NONE, *columns])[order]

    def __len__(self) -> int:
        return len(self._at)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        return self.channels[self._at[index]].collective(int(self._columns[index]))

    def count_before(self, time_ns: int) -> int:
        """Return how many collectives began before a time."""
        return int(np.searchsorted(self._begins_ns, time_ns))

    def unlike_in(self, group: int, ranks: tuple[int, ...]) -> list[Collective]:
        """Return the collectives of a whole group in which the ranks' calls differ."""
        found = (one.unlike for one in self.channels if one.group == group and one.ends is None)
        return [one for unlike in found for one in unlike if one.ranks == ranks]

    def last_of(self, log: RankLog) -> Collective:
        """Return the collective that a rank called last."""
        at = ((one, one.column_of(log.rank, log.call_count - 1)) for one in self.channels)
        return next(one.collective(column) for one, column in at if column is not None)


def joined(logs: Iterable[RankLog]) -> list[Channel]:
    """Return the collectives of a run."""
    # Groups that their members alone create may have the same number.
    found: defaultdict[_Key, list[tuple[RankLog, Ints]]] = defaultdict(list)
    for log in logs:
        sites: defaultdict[_Key, list[int]] = defaultdict(list)
        for number, call in log.sites.items():
            sites[call.group, _ends(call), call.ranks].append(number)
        known = log.site_of[: log.call_count]
        for key, numbers in sites.items():
            own = np.flatnonzero(np.isin(known, numbers))
            if len(own):
                found[key].append((log, own))
    return [Channel(group, ends, calls) for (group, ends, _), calls in found.items()]


def _ends(call: Call) -> tuple[int, int] | None:
    if call.op == "send":
        return call.rank, call.peer
    return (call.peer, call.rank) if call.op == "recv" else None


def odd_ones(values: Mapping[int, object]) -> list[int]:
    """Return the ranks whose value differs from most ranks'; at a tie, from the first rank's."""
    ranks = sorted(values)
    counts = Counter(values[rank] for rank in ranks)
    most = max(counts.values())
    usual = next(values[rank] for rank in ranks if counts[values[rank]] == most)
    return [rank for rank in ranks if values[rank] != usual]


def waited_for(channels: Iterable[Channel]) -> dict[int, Counter[int]]:
    """Return for each rank how many ns it waited for each rank that came last.

    A collective counts if all of its ranks have begun it. The start of the job does not count. For
    ``send`` and ``recv`` only the receiver counts, because a sender need not wait.
    """
    found: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for one in channels:
        begins_ns = one.begins_ns[:, one.is_complete]
        if one.group < 0 or not begins_ns.size:
            continue
        begins_ns = np.where(begins_ns == NEVER, -1, begins_ns)
        last, last_ns = begins_ns.argmax(axis=0), begins_ns.max(axis=0)
        for log, begin_ns in zip(one.logs, begins_ns, strict=True):
            if one.ends is None or log.rank == one.ends[1]:
                waited_ns = np.where(begin_ns < 0, 0, last_ns - begin_ns)
                for row in np.unique(last[waited_ns > 0]).tolist():
                    found[log.rank][one.logs[row].rank] += int(waited_ns[last == row].sum())
    return dict(found)
