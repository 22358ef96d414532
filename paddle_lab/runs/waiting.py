"""How long each rank waited in collectives, and for whom."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from paddle_lab.runs.collectives import Collective


def waited_for(collectives: Sequence[Collective]) -> dict[int, Counter[int]]:
    """Return for each rank how many ns it waited, by the rank that came last.

    Only collectives count that all their ranks have begun, and not the start of the job. A sender
    need not wait for its receiver, so only receivers are counted in messages.
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
