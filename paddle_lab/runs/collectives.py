"""Joins the ranks' calls: the n-th call in a group is one collective on all ranks of the group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from paddle_lab.runs.rank_log import Call, RankLog


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


def joined(logs: Iterable[RankLog]) -> list[Collective]:
    """Return the collectives of a run, in the order in which they began."""
    found: defaultdict[tuple[int, tuple[int, int] | None], list[Collective]] = defaultdict(list)
    for log in logs:
        calls: defaultdict[tuple[int, tuple[int, int] | None], list[Call]] = defaultdict(list)
        for call in log.calls:
            calls[call.group, _channel(call)].append(call)
        for (group, channel), own in calls.items():
            joint = found[group, channel]
            joint += [Collective(group, at + 1, channel) for at in range(len(joint), len(own))]
            for collective, call in zip(joint, own, strict=False):
                collective.calls[log.rank] = call
    return sorted(chain(*found.values()), key=lambda collective: collective.begin_ns)


def _channel(call: Call) -> tuple[int, int] | None:
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


def waited_for(collectives: Sequence[Collective]) -> dict[int, Counter[int]]:
    """Return for each rank how many ns it waited for each rank that came last.

    A collective counts if all of its ranks have begun it. The start of the job does not count. For
    ``send`` and ``recv`` only the receiver counts, because a sender need not wait.
    """
    found: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for one in collectives:
        if one.absent or one.group < 0:
            continue
        begun = {rank: call.begin_ns for rank, call in one.calls.items()}
        last_ns = max(begun.values())
        last = min(rank for rank, begin_ns in begun.items() if begin_ns == last_ns)
        for rank, begin_ns in begun.items():
            if begin_ns < last_ns and (one.channel is None or rank == one.channel[1]):
                found[rank][last] += last_ns - begin_ns
    return dict(found)
