"""Finds where the ranks disagree, even if nothing failed.

The arguments of each collective are compared between its ranks. The lines may differ, because a
program may have a branch for each rank. But the ranks disagree if two of them run the same two
lines in opposite order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, Final

from paddle_lab.runs.collectives import Collective, Collectives, odd_ones
from paddle_lab.runs.finding import RunFinding, place_said, ranks_said
from paddle_lab.runs.rank_log import Call, RankLog, Step, place_of
from paddle_lab.words import say

_ARGUMENTS: Final = ("op", "reduce_op", "root", "dtype", "shape")
_SIZES_DIFFER: Final = ("all_to_all",)
_NUMBERED: Final = re.compile(r"\[\d+\]$")


def disagreements(logs: Sequence[RankLog], collectives: Collectives) -> list[RunFinding]:
    """Return the first disagreement of each kind in each group. Later ones follow from it."""
    found: dict[tuple[str, int], RunFinding] = {}
    for channel in collectives.channels:
        unlike = channel.unlike
        findings = [next((one for one in map(mismatch, unlike) if one is not None), None)]
        if channel.ends is None:
            findings.append(_crossed(unlike))
        for finding in findings:
            if finding is not None:
                key = finding.kind, channel.group
                found[key] = min(finding, found.get(key, finding), key=lambda one: one.time_ns)
    others = (_steps(logs), _dropouts(logs))
    return [*found.values(), *(one for one in others if one is not None)]


def mismatch(collective: Collective) -> RunFinding | None:
    """Return the first argument in which the ranks' calls of a collective differ."""
    calls = collective.calls
    for name in _ARGUMENTS:
        if name == "op" and collective.channel is not None:
            continue
        values = {rank: _argument(call, name) for rank, call in calls.items()}
        odd = odd_ones(values)
        if odd:
            usual = next(rank for rank in sorted(calls) if rank not in odd)
            message = say(
                f"runs.mismatch.{'message' if collective.channel is None else 'between'}",
                n=collective.sequence,
                group=collective.group,
                argument=say(f"runs.argument.{name}"),
                odd=ranks_said(odd),
                value=_written(values[odd[0]]),
                others=ranks_said([rank for rank in calls if values[rank] == values[usual]]),
                usual=_written(values[usual]),
            )
            advice = say("runs.hang.advice" if name == "op" else "runs.mismatch.advice")
            return RunFinding(
                "collective-mismatch", message, advice, tuple(odd), places(collective),
                collective.begin_ns,
            )  # fmt: skip
    return None


def _argument(call: Call, name: str) -> Any:
    if name != "shape":
        return getattr(call, name)
    if call.op in _SIZES_DIFFER or call.shape is None:
        return None
    # A message may be received in another shape.
    return prod(call.shape) if call.op in ("send", "recv") else call.shape


def _written(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def places(collective: Collective) -> dict[int, tuple[str, int]]:
    """Return each rank's line in a collective."""
    return {rank: call.place for rank, call in sorted(collective.calls.items())}


def _crossed(collectives: Sequence[Collective]) -> RunFinding | None:
    """Return where two ranks use some lines, parameters or variables in another order."""
    pairs: defaultdict[tuple[int, int], dict[Any, dict[Any, Collective]]]
    pairs = defaultdict(lambda: defaultdict(dict))
    for collective in collectives:
        for first, second, mine, theirs in _differing(collective):
            seen = pairs[first, second]
            # What the second rank used here leads over other calls back to what the first used.
            reached = {theirs: collective}
            for one in (todo := [theirs]):
                for other, earlier in seen[one].items():
                    if other not in reached:
                        reached[other] = min(reached[one], earlier, key=lambda each: each.begin_ns)
                        todo.append(other)
            if mine in reached:
                return _order_finding(reached[mine], first, second)
            seen[mine].setdefault(theirs, collective)
    return None


def _differing(collective: Collective) -> Iterator[tuple[int, int, Any, Any]]:
    """Yield pairs of ranks whose lines, parameters or variables differ.

    Yield none for a call with a root rank. Items with a number do not count: a rank may choose one
    by its own number, such as the buffer of a ring.
    """
    first, *others = sorted(collective.calls)
    mine = collective.calls[first]
    if mine.root >= 0:
        return
    for other in others:
        theirs = collective.calls[other]
        is_item = any(_NUMBERED.search(one.variable) for one in (mine, theirs))
        for one, another in (
            (mine.site, theirs.site),
            (mine.tensor, theirs.tensor),
            ("" if is_item else mine.variable, theirs.variable),
        ):
            if one and another and one != another:
                yield first, other, one, another


def _order_finding(collective: Collective, first: int, second: int) -> RunFinding:
    calls = collective.calls
    message = say(
        "runs.order.message", n=collective.sequence, group=collective.group,
        first=ranks_said([first]), mine=_called(calls[first]),
        second=ranks_said([second]), theirs=_called(calls[second]),
    )  # fmt: skip
    odd = odd_ones({rank: (call.site, call.tensor, call.variable) for rank, call in calls.items()})
    return RunFinding(
        "collective-order", message, say("runs.order.advice"), tuple(odd), places(collective),
        collective.begin_ns,
    )  # fmt: skip


def _called(call: Call) -> str:
    what = call.tensor or call.variable
    return f"{place_said(call.place)} ({what})" if what else place_said(call.place)


def _steps(logs: Sequence[RankLog]) -> RunFinding | None:
    """Return the first step at which the ranks' parameters or gradients differ."""
    told = [{one.step: one for one in log.steps} for log in logs]
    rates = ""
    for step in sorted(set().union(*told)):
        at = {
            log.rank: by_step[step]
            for log, by_step in zip(logs, told, strict=True)
            if step in by_step
        }
        for alike in {one.parameters for one in at.values()}:
            ranks = {rank: one for rank, one in at.items() if one.parameters == alike}
            finding = _gradients(ranks) or _parameters(ranks, rates)
            if finding is not None:
                return finding
            rates = rates or _rates(ranks)
    return None


def _rates(at: dict[int, Step]) -> str:
    """Return how the learning rates of a step differ, ``""`` if they are equal."""
    rates = {rank: f"{one.rate:g}" for rank, one in at.items() if one.rate is not None}
    odd = odd_ones(rates) if rates else []
    if not odd:
        return ""
    usual = next(rate for rank, rate in rates.items() if rank not in odd)
    alike = [rank for rank in odd if rates[rank] == rates[odd[0]]]
    return " " + say(
        "runs.parameters.rates", n=at[odd[0]].step, rate=rates[odd[0]], ranks=ranks_said(alike),
        usual=usual, others=ranks_said([rank for rank in rates if rank not in odd]),
    )  # fmt: skip


def _gradients(at: dict[int, Step]) -> RunFinding | None:
    known = {rank: one.without for rank, one in at.items() if one.without is not None}
    some: dict[str, list[int]] = {}
    reducing = {name: ranks for one in at.values() for name, (_, ranks) in one.digests.items()}
    for without in known.values():
        for name, own in without.items():
            ranks = own or reducing.get(name, [])
            if any(rank in known and name not in known[rank] for rank in ranks):
                some[name] = [rank for rank in ranks if rank in known]
    if not some:
        return None
    name = min(some)
    lacking = [rank for rank in some[name] if name in known[rank]]
    others = [rank for rank in some[name] if rank not in lacking]
    message = say(
        "runs.gradients.message",
        n=next(iter(at.values())).step, ranks=ranks_said(lacking), name=name,
        others=ranks_said(others), more=len(some) - 1,
    )  # fmt: skip
    odd = odd_ones({rank: rank in lacking for rank in some[name]})
    lines = {rank: place_of(at[rank].backward) for rank in some[name]}
    return RunFinding(
        "gradient-on-some-ranks", message, say("runs.gradients.advice"), tuple(odd), lines
    )


def _parameters(at: dict[int, Step], rates: str) -> RunFinding | None:
    """Return a parameter that differs; ``rates`` tells how earlier learning rates did."""
    for name in sorted(set().union(*(one.digests for one in at.values()))):
        by_group: defaultdict[tuple[int, ...], dict[int, int]] = defaultdict(dict)
        for rank, one in sorted(at.items()):
            if name in one.digests:
                digest, ranks = one.digests[name]
                by_group[tuple(ranks)][rank] = digest
        for digests in by_group.values():
            odd = odd_ones(digests)
            if odd:
                others = [rank for rank in digests if rank not in odd]
                message = say(
                    "runs.parameters.message", n=at[odd[0]].step, name=name,
                    ranks=ranks_said(odd), others=ranks_said(others),
                ) + rates  # fmt: skip
                lines = {rank: place_of(at[rank].stack) for rank in digests}
                advice = say("runs.parameters.advice")
                return RunFinding("parameters-differ", message, advice, tuple(odd), lines)
    return None


def _dropouts(logs: Sequence[RankLog]) -> RunFinding | None:
    """Return the first dropout that made results differ that were the same on all ranks."""
    calls: defaultdict[tuple[Any, ...], dict[int, dict[str, Any]]] = defaultdict(dict)
    for log in logs:
        for one in log.dropouts:
            calls[place_of(one["stack"]), one["call"], tuple(one["ranks"])][log.rank] = one
    for (place, _, _), at in calls.items():
        odd = odd_ones({rank: one["after"] for rank, one in at.items()})
        if odd and not odd_ones({rank: one["before"] for rank, one in at.items()}):
            others = [rank for rank in at if rank not in odd]
            message = say("runs.dropout.message", ranks=ranks_said(odd), others=ranks_said(others))
            lines = dict.fromkeys(sorted(at), place)
            time_ns = min(one["time_ns"] for one in at.values())
            return RunFinding(
                "dropout-differs", message, say("runs.dropout.advice"), tuple(odd), lines, time_ns,
                "warning",
            )  # fmt: skip
    return None
