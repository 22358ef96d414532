"""A copy of a trace that a notebook can store: rung by rung, the least is left out first."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from paddle_lab.analysis.answers import with_answers
from paddle_lab.analysis.trees import depths
from paddle_lab.trace.pack import column_bytes, pack
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.views.reduction import leaving_out as without
from paddle_lab.views.reduction.contraction import contracted
from paddle_lab.views.reduction.parts import Parts, equal_blocks, insides, middles
from paddle_lab.views.reduction.timeline import summed_up

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LARGEST_STORED_BYTES: Final = 640_000
"""As base64, once in the output and once in the widget's state, it leaves room for the rest of a
notebook of 2 MB."""
_LEVEL_9_SAVES: Final = 1.2
"""How much larger a payload is that was compressed fast, at most."""
_WORTH_IT: Final = 0.98
"""A rung that saves less is not taken."""


class _Rung(NamedTuple):
    told: str
    """What it leaves out, for people; ``""`` where no view shows it."""
    step: Callable[[Record], Record]
    least_ops: int = 0
    """How many ops it leaves at least, of a trace that has more."""


def stored_payload(
    record: Record, payload: bytes, *, limit_bytes: int = LARGEST_STORED_BYTES
) -> bytes:
    """Return the bytes that a notebook stores of a trace.

    Parameters
    ----------
    record
        A record with what its views need.
    payload
        The same, packed for a page.
    limit_bytes
        How large it may be.

    Returns
    -------
    bytes
        ``payload`` itself where it is small enough, else a packed record that is. Where something
        is left out that a view would show, its notices say so first.
    """
    if len(payload) <= limit_bytes:
        return payload
    if len(payload) <= limit_bytes * _LEVEL_9_SAVES:
        whole = pack(record, level=9)
        if len(whole) <= limit_bytes:
            return whole
    sizes = _Sizes()
    size = sizes.of(record)
    told: list[str] = []
    for rung in _rungs(record):
        if rung.least_ops * size > limit_bytes * max(1, len(record.ops)):
            continue
        reduced = rung.step(record)
        if reduced is record or (rung.told and sizes.of(reduced) > size * _WORTH_IT):
            continue
        record, size = reduced, sizes.of(reduced)
        told += [rung.told] if rung.told and rung.told not in told else []
        # The guess is made with fast compression: the real size is hardly ever larger.
        if size > limit_bytes * _LEVEL_9_SAVES:
            continue
        smallest = pack(_noted(record, told), level=9)
        if len(smallest) <= limit_bytes:
            return smallest
    empty = with_answers(Record.empty())
    empty.origin = dataclasses.replace(record.origin, exception="", notices=[], checks=[])
    return pack(_noted(without.with_shorter_texts(empty, longest=200), ["the whole graph"]))


def _rungs(record: Record) -> Iterator[_Rung]:
    yield _Rung("", without.without_evidence)
    yield _Rung("addresses of grad nodes", without.without_addresses)
    rounded = "nanoseconds in the times of ops"
    yield _Rung(rounded, lambda r: without.with_rounded_times(r, step_ns=1024))
    blocks = "small blocks of memory (summed up by kind)"
    for largest, stretches in ((8000, 800), (3000, 300), (500, 100)):
        yield _Rung(blocks, _summing(largest, stretches))
    yield _Rung("histograms of gradients", lambda r: without.without_tables(r, "grad_histograms"))
    yield _Rung("values of tensors", lambda r: without.without_tables(r, "value_stats"))
    yield _Rung("arguments of ops", without.without_attributes)
    sources = "lines of long files that called no op"
    yield _Rung(sources, without.with_shorter_sources)
    blocks_inside = "the inside of equal blocks but the first"
    yield _Rung(blocks_inside, _contracting(equal_blocks, in_a_row=True, outermost=True))
    yield _Rung(blocks_inside, _contracting(equal_blocks, in_a_row=True))
    yield _Rung(blocks_inside, _contracting(equal_blocks))
    middle = "the middle of long rows of ops"
    for ends in (20_000, 8000, 3000, 1000, 300):
        yield _Rung(middle, _contracting(middles, ends=ends), least_ops=ends)
    depth = int(depths(record.groups["parent"]).max(initial=-1))
    while depth >= 0:
        yield _Rung("the inside of inner groups", _contracting(insides, depth=depth))
        # Of a network nested thousands of times not every depth is tried.
        depth = depth - 1 if depth < 12 else depth * 2 // 3
    yield _Rung(middle, _contracting(middles, ends=50))
    yield _Rung(blocks, _summing(50, 20))
    yield _Rung("gradients", lambda r: without.without_tables(r, "grad_histograms", "grad_stats"))
    yield _Rung("the end of long texts", lambda r: without.with_shorter_texts(r, longest=2000))
    for name in ("finding_marks", "holders", "steps", "memory_totals"):
        yield _Rung(name.replace("_", " "), _shortening(name, most=500))
    yield _Rung("memory", lambda r: without.without_tables(r, "allocations", "holders"))


def _summing(largest: int, stretches: int) -> Callable[[Record], Record]:
    return lambda record: summed_up(record, largest=largest, stretches=stretches)


def _contracting(choose: Callable[..., Parts], **options: int) -> Callable[[Record], Record]:
    def step(record: Record) -> Record:
        parts = choose(record, **options)
        if not len(parts.group):
            return record
        return without.with_shorter_sources(contracted(record, parts))

    return step


def _shortening(name: str, *, most: int) -> Callable[[Record], Record]:
    def step(record: Record) -> Record:
        if len(record.tables.get(name, ())) <= most:
            return record
        return without.with_fewer_rows(record, name, most=most)

    return step


def _noted(record: Record, told: list[str]) -> Record:
    """Return the record with a notice of what its notebook does without."""
    if not told:
        return record
    parts = told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
    notice = (
        f"This notebook stores a reduced copy of the trace, without {parts}. "
        'Run the cell again to see all of it; _trace.save("x.pdltrace") keeps all of it.'
    )
    origin = dataclasses.replace(record.origin, notices=[notice, *record.origin.notices])
    tables = {name: record.tables[name] for name in record.tables}
    assert tables.keys() >= RECORD_TABLES.keys()
    return Record(tables, record.strings, origin)


class _Sizes:
    """About how many bytes records take; what they share is compressed once."""

    def __init__(self) -> None:
        # Each array is kept, so that its id stays its own.
        self._of_column: dict[int, tuple[npt.NDArray[Any], int]] = {}
        self._of_strings: tuple[list[str], int] = ([], 0)

    def of(self, record: Record) -> int:
        """Return the bytes of a record, compressed fast."""
        if record.strings is not self._of_strings[0]:
            text = "\0".join(record.strings).encode("utf-8", "replace")
            self._of_strings = record.strings, len(zlib.compress(text, 1))
        columns = (c for table in record.tables.values() for c in table.columns.values())
        return self._of_strings[1] + sum(map(self._column, columns))

    def _column(self, column: npt.NDArray[np.generic]) -> int:
        known = self._of_column.get(id(column))
        if known is None:
            known = column, len(zlib.compress(column_bytes(column), 1))
            self._of_column[id(column)] = known
        return known[1]
