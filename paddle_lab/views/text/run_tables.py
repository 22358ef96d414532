"""Tables of a run of several ranks: its collectives, and the set-up of each rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, Reported, header
from paddle_lab.runs.collectives import Collective
from paddle_lab.runs.finding import RunFinding, place_said, ranks_said
from paddle_lab.runs.rank_log import Call
from paddle_lab.runs.setup import setup_findings
from paddle_lab.words import say

_COLUMNS = ("group", "sequence", "op", "what", "ranks", "line", "layer", "longest_wait")
_SETUP_COLUMNS = ("rank", "host", "device", "backend", "endpoint", "paddle")


class CollectiveTable(Reported, Sequence[Collective]):
    """The collectives of a run, in the order in which they began.

    In a :class:`~paddle_lab.runs.collectives.Collective`, ``calls`` maps each rank to its call with
    ``op``, ``reduce_op``, ``root``, ``shape``, ``dtype``, ``place`` (file and line), ``layer``,
    ``begin_ns`` and ``end_ns``.
    """

    def __init__(self, collectives: Sequence[Collective]) -> None:
        self._collectives = collectives

    def __len__(self) -> int:
        return len(self._collectives)

    def __getitem__(self, index: Any) -> Any:
        return self._collectives[index]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each call of each rank, for ``pandas.DataFrame``."""
        return [
            {
                "group": one.group, "sequence": one.sequence, "rank": rank, "op": call.op,
                "reduce_op": call.reduce_op, "root": call.root, "peer": call.peer,
                "shape": call.shape, "dtype": call.dtype, "file": call.place[0],
                "line": call.place[1], "layer": call.layer, "tensor": call.tensor,
                "buckets": call.buckets,
                "begin_ns": call.begin_ns, "end_ns": call.end_ns,
            }
            for one in self._collectives
            for rank, call in sorted(one.calls.items())
        ]  # fmt: skip

    def _report(self) -> Report:
        rows = [_row(one) for one in self._collectives[:ROWS_SHOWN]]
        names = header("runs", *_COLUMNS)
        return Report("", names, rows, (0, 1, 7), row_count=len(self))


def _row(one: Collective) -> tuple[str, ...]:
    call = one.calls[min(one.calls)]
    places = list(dict.fromkeys(place_said(each.place) for each in one.calls.values()))
    wait_ms = max(one.waited_ns.values()) / 1e6
    return (
        group_said(one), str(one.sequence), one.op, described(one),
        ranks_said(list(one.calls)), ", ".join(places), call.layer, f"{wait_ms:.1f} ms",
    )  # fmt: skip


def group_said(one: Collective) -> str:
    """Return the number of the group, ``""`` before ``init_parallel_env`` has made a group."""
    return str(one.group) if one.group >= 0 else ""


def described(one: Collective) -> str:
    """Return what a collective communicates, from the call of its first rank."""
    way = "" if one.channel is None else f"{one.channel[0]} → {one.channel[1]}"
    return ", ".join(part for part in (data_of(one.calls[min(one.calls)]), way) if part)


def data_of(call: Call) -> str:
    """Return what a rank communicates: shape and dtype, reduce op, root, or parameters."""
    if call.op == "backward":
        return say("runs.buckets", n=len(call.buckets)) if call.buckets else "DataParallel"
    shape = "" if call.shape is None else f"[{', '.join(map(str, call.shape))}] {call.dtype}"
    root = say("runs.root", rank=call.root) if call.root >= 0 else ""
    return ", ".join(part for part in (shape, call.reduce_op, root, call.tensor) if part)


class ClusterCheck(Reported):
    """The set-ups of the ranks, and the mistakes in them.

    Parameters
    ----------
    setups
        The set-up of each rank.
    """

    def __init__(self, setups: Mapping[int, dict[str, Any]]) -> None:
        self.ranks = setups
        """The set-up of each rank, as a dict of named values."""
        self.findings: list[RunFinding] = setup_findings(setups)
        """The mistakes in the set-ups. Each has ``message``, ``severity`` and ``ranks``."""

    def _report(self) -> Report:
        rows = [
            tuple(str(setup[name]) for name in _SETUP_COLUMNS)
            for _, setup in sorted(self.ranks.items())
        ]
        notes = [str(one) for one in self.findings] or [say("runs.setup.nothing")]
        return Report("", header("runs", *_SETUP_COLUMNS), rows, (0,), len(rows), notes)
