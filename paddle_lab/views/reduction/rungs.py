"""The rungs of what a stored copy does without, in order: the least is left out first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from paddle_lab.analysis.trees import depths
from paddle_lab.trace.record import Record
from paddle_lab.views.reduction import leaving_out as without
from paddle_lab.views.reduction.contraction import contracted
from paddle_lab.views.reduction.parts import Parts, equal_blocks, insides, longest_row, middles
from paddle_lab.views.reduction.timeline import summed_up
from paddle_lab.words import say


class Rung(NamedTuple):
    """One thing that a copy can do without."""

    told: str
    """What it leaves out, for people; ``""`` where no view shows it."""
    step: Callable[[Record], Record]
    least_ops: int = 0
    """How many ops it leaves at least, of a trace that has more."""
    part: Callable[[Record, float], Record] | None = None
    """The same for a share of it, above 0 and up to 1, where that can be had."""
    told_of_part: str = ""
    """What a part leaves out, where that is said in another way."""


def rungs(record: Record) -> Iterator[Rung]:
    """Yield the rungs for a record with answer tables."""
    yield Rung("", without.without_evidence)
    yield Rung(_told("addresses"), without.without_addresses)
    rounded = _told("times")
    for step_ns in (128, 1024):
        yield Rung(rounded, _rounding(step_ns))
    blocks = _told("blocks")
    for largest, stretches in ((8000, 800), (3000, 300), (500, 100)):
        yield _summing(blocks, largest, stretches)
    yield Rung(_told("histograms"), lambda r: without.without_tables(r, "grad_histograms"))
    yield Rung(_told("values"), lambda r: without.without_tables(r, "value_stats"))
    yield Rung(_told("arguments"), without.without_attributes)
    sources = _told("sources")
    yield Rung(sources, without.with_shorter_sources)
    yield _of_equal_blocks(in_a_row=True, outermost=True)
    yield _of_equal_blocks(in_a_row=True)
    yield _of_equal_blocks()
    for ends in (20_000, 8000, 3000, 1000, 300):
        yield _of_middles(ends)
    depth = int(depths(record.groups["parent"]).max(initial=-1))
    while depth >= 0:
        yield _of_insides(depth)
        # Of a network nested thousands of times not every depth is tried.
        depth = depth - 1 if depth < 12 else depth * 2 // 3
    yield _of_middles(50)._replace(least_ops=0)
    yield _summing(blocks, 50, 20)
    yield Rung(
        _told("gradients"), lambda r: without.without_tables(r, "grad_histograms", "grad_stats")
    )
    yield Rung(_told("texts"), lambda r: without.with_shorter_texts(r, longest=2000))
    for name in ("finding_marks", "holders", "steps", "memory_totals"):
        yield Rung(_told(name), _shortening(name, most=500))
    yield Rung(_told("memory"), lambda r: without.without_tables(r, "allocations", "holders"))


def _told(name: str) -> str:
    return say(f"reports.reduced.{name}")


def _rounding(step_ns: int) -> Callable[[Record], Record]:
    return lambda record: without.with_rounded_times(record, step_ns=step_ns)


def _summing(told: str, largest: int, stretches: int) -> Rung:
    def part(record: Record, share: float) -> Record:
        more = max(0, len(record.allocations) - largest)
        return summed_up(record, largest=largest + int((1 - share) * more), stretches=stretches)

    return Rung(told, lambda record: part(record, 1.0), part=part)


def _of_equal_blocks(*, in_a_row: bool = False, outermost: bool = False) -> Rung:
    def part(record: Record, share: float) -> Record:
        parts = equal_blocks(record, in_a_row=in_a_row, outermost=outermost, share=share)
        return _contracted(record, parts)

    return Rung(
        _told("equal_blocks"),
        lambda record: part(record, 1.0),
        part=part,
        told_of_part=_told("some_equal_blocks"),
    )


def _of_middles(ends: int) -> Rung:
    def part(record: Record, share: float) -> Record:
        more = max(0, longest_row(record) // 2 - ends)
        return _contracted(record, middles(record, ends=ends + int((1 - share) * more)))

    told = _told("middles")
    return Rung(told, lambda record: part(record, 1.0), least_ops=ends, part=part)


def _of_insides(depth: int) -> Rung:
    def part(record: Record, share: float) -> Record:
        return _contracted(record, insides(record, depth=depth, share=share))

    told = _told("insides")
    return Rung(told, lambda record: part(record, 1.0), part=part)


def _contracted(record: Record, parts: Parts) -> Record:
    if not len(parts.group):
        return record
    return without.with_shorter_sources(contracted(record, parts))


def _shortening(name: str, *, most: int) -> Callable[[Record], Record]:
    def step(record: Record) -> Record:
        if len(record.tables.get(name, ())) <= most:
            return record
        return without.with_fewer_rows(record, name, most=most)

    return step
