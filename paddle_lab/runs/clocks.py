"""Finds how much the clocks of a job's machines differ, from collectives that end together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from paddle_lab.runs.collectives import Channel, Ints
from paddle_lab.runs.rank_log import RankLog

_END_TOGETHER: Final = ("barrier", "all_reduce", "all_gather", "backward", "init_parallel_env")


def align(logs: Sequence[RankLog], channels: Sequence[Channel], hosts: Mapping[int, str]) -> None:
    """Find for each rank how many ns its clock is ahead of the first rank's clock.

    A barrier ends on all ranks at almost the same moment. So the clocks differ by the median of the
    differences between the ends. Ranks on one machine share a clock.

    Parameters
    ----------
    hosts
        The name of each rank's machine.
    """
    ahead: defaultdict[str, list[Ints]] = defaultdict(list)
    for one in channels if len(set(hosts.values())) > 1 else ():
        if one.ends is not None or one.logs[0] is not logs[0]:
            continue
        ends_ns = one.table(lambda log: log.ends_ns, 0)
        is_joint = one.is_complete & (one.at_sites(lambda call: call.op in _END_TOGETHER)[0] > 0)
        for log, own_ns in zip(one.logs, ends_ns, strict=True):
            if hosts[log.rank] != hosts[logs[0].rank]:
                at = is_joint & (own_ns > 0) & (ends_ns[0] > 0)
                ahead[hosts[log.rank]].append((own_ns - ends_ns[0])[at])
    for log in logs:
        found = np.concatenate([np.zeros(0, np.int64), *ahead.get(hosts[log.rank], ())])
        log.ahead_ns = int(np.median(found)) if len(found) else 0
