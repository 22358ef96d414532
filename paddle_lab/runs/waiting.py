"""Adds up how long each rank waited in collectives, and for which ranks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from paddle_lab.runs.collectives import Collective


def waited_for(collectives: Sequence[Collective]) -> dict[int, Counter[int]]:
    """Return for each rank how many ns it waited for each rank that came last.

    A collective counts if all of its ranks have begun it. The start of the job does not count. For
    ``send`` and ``recv`` only the receiver counts, because a sender need not wait.
    """
    found: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for one in collectives:
        if one.absent or one.group < 0:
            continue
        waits = one.waited_ns
        last = min(waits, key=lambda rank: waits[rank])
        for rank, wait_ns in waits.items():
            if wait_ns and (one.channel is None or rank == one.channel[1]):
                found[rank][last] += wait_ns
    return dict(found)
