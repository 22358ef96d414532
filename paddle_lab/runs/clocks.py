"""Finds how much the clocks of a job's machines differ, from collectives that end together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from paddle_lab.runs.collectives import Collective

_END_TOGETHER: Final = ("barrier", "all_reduce", "all_gather", "backward", "init_parallel_env")


def clock_shifts(collectives: Sequence[Collective], hosts: Mapping[int, str]) -> dict[int, int]:
    """Return for each rank how many ns its clock is ahead of the first rank's clock.

    A barrier ends on all ranks at almost the same moment. So the clocks differ by the median of the
    differences between the ends. Ranks on one machine share a clock.

    Parameters
    ----------
    hosts
        The name of each rank's machine.
    """
    base = min(hosts, default=0)
    ahead: defaultdict[str, list[int]] = defaultdict(list)
    for one in collectives if len(set(hosts.values())) > 1 else ():
        mine = one.calls.get(base)
        if one.op not in _END_TOGETHER or one.absent or mine is None or mine.end_ns is None:
            continue
        for rank, call in one.calls.items():
            if hosts.get(rank, hosts[base]) != hosts[base] and call.end_ns is not None:
                own_ns, base_ns = call.end_ns + call.shifted_ns, mine.end_ns + mine.shifted_ns
                ahead[hosts[rank]].append(own_ns - base_ns)
    return {rank: int(median(ahead[host])) for rank, host in hosts.items() if ahead.get(host)}


def align(collectives: Sequence[Collective], shifts: Mapping[int, int]) -> None:
    """Convert the times of all calls to the first rank's clock."""
    for one in collectives if shifts else ():
        for rank, call in one.calls.items():
            shift = shifts.get(rank, 0) - call.shifted_ns
            call.begin_ns -= shift
            call.end_ns = None if call.end_ns is None else call.end_ns - shift
            call.shifted_ns += shift
