"""``check="collectives"``: compares each collective over Paddle's store before it runs.

If a collective differs between ranks, each rank raises an error at its line. Without the check,
such a collective hangs, ends a process, or gives wrong numbers. ``send`` and ``recv`` are not
compared, because a sender need not wait for the receiver.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any, Final

from paddle_lab.capture.door import DOOR
from paddle_lab.runs.collectives import Collective
from paddle_lab.runs.disagreements import mismatch
from paddle_lab.runs.finding import place_said, ranks_said
from paddle_lab.runs.rank_log import call_at, place_of
from paddle_lab.words import say

_FIRST_PAUSE_S: Final = 0.0001
_LONGEST_PAUSE_S: Final = 0.02
_BETWEEN_TWO: Final = ("send", "recv")


class RanksDisagreeError(RuntimeError):
    """The ranks of a group are about to make different collective calls."""


class CollectiveCheck:
    """Compares the calls of the ranks of a group.

    Parameters
    ----------
    rank
        This process's rank.
    """

    def __init__(self, rank: int) -> None:
        self._rank = rank
        self._counts: Counter[int] = Counter()

    def compare(self, site: dict[str, Any]) -> None:
        """Wait until all ranks of the group are about to make a call, and compare their calls.

        Raises
        ------
        RanksDisagreeError
            If the calls differ, or if a rank has ended.
        """
        group, ranks = int(site["group"]), site["ranks"]
        if group < 0 or site["op"] in _BETWEEN_TWO or self._rank not in ranks:
            return
        self._counts[group] += 1
        sequence = self._counts[group]
        key = self._publish(sequence, site)
        store, pause_s = DOOR.global_store(), _FIRST_PAUSE_S
        # The store's get() would hold the GIL while it waits.
        while store.add(f"{key}/count", 0) < len(ranks):
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        sites = {rank: json.loads(store.get(f"{key}/{rank}")) for rank in ranks}
        _raise_if_ended(sites, sequence, group)
        calls = {rank: call_at(rank, told) for rank, told in sites.items()}
        finding = mismatch(Collective(group, sequence, None, calls))
        if finding is not None:
            raise RanksDisagreeError(str(finding).partition(": ")[2])

    def end(self, stack: tuple[tuple[str, int, str], ...]) -> None:
        """Tell the ranks that wait for this rank that this rank's program has ended."""
        for group in DOOR.groups_by_id.values():
            if group.process_group is not None and self._rank in group.ranks:
                ranks = tuple(group.ranks)
                site = {"op": "", "group": group.id, "ranks": ranks, "stack": stack}
                self._publish(self._counts[group.id] + 1, site)

    def _publish(self, sequence: int, site: dict[str, Any]) -> str:
        # Groups that their members alone create may have the same number.
        store, key = DOOR.global_store(), f"paddle_lab/{site['group']}/{site['ranks']}/{sequence}"
        store.set(f"{key}/{self._rank}", json.dumps(site))
        store.add(f"{key}/count", 1)
        return key


def _raise_if_ended(sites: dict[int, dict[str, Any]], sequence: int, group: int) -> None:
    ended = [rank for rank, site in sites.items() if not site["op"]]
    if ended:
        values = {
            "ranks": ranks_said(ended),
            "place": place_said(place_of(sites[ended[0]]["stack"])),
        }
        raise RanksDisagreeError(say("runs.check.ended", n=sequence, group=group, **values))
