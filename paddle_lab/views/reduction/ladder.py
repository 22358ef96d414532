"""A copy of a trace that a notebook can store: rung by rung, the least is left out first."""

from __future__ import annotations

import dataclasses
from typing import Final

from paddle_lab.analysis.answers import with_answers
from paddle_lab.trace.pack import pack
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.views.reduction import leaving_out as without
from paddle_lab.views.reduction.filling import least_of
from paddle_lab.views.reduction.rungs import rungs
from paddle_lab.views.reduction.sizes import Sizes
from paddle_lab.words import listing, say

LARGEST_STORED_BYTES: Final = 640_000
"""As base64, once in the output and once in the widget's state, it leaves room for the rest of a
notebook of 2 MB."""
_LEVEL_9_SAVES: Final = 1.2
"""How much larger a payload is that was compressed fast, at most."""
_WORTH_IT: Final = 0.98
"""A rung that saves less is not taken."""
_SURE_TO_FIT: Final = 0.99
"""How much of the room a copy may take by a guess that is made before its last rung is taken."""


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
    sizes = Sizes()
    size = sizes.of(record)
    told: list[str] = []
    for rung in rungs(record):
        if rung.least_ops * size > limit_bytes * max(1, len(record.ops)):
            continue
        reduced = rung.step(record)
        if reduced is record or (rung.told and sizes.of(reduced) > size * _WORTH_IT):
            continue
        before, told_before = record, told
        record, size = reduced, sizes.of(reduced)
        told = _with(told, rung.told)
        # The guess is made with fast compression: the real size is hardly ever larger.
        if size > limit_bytes * _LEVEL_9_SAVES:
            continue
        smallest = pack(_noted(record, told), level=9)
        if len(smallest) > limit_bytes:
            continue
        room = limit_bytes * _SURE_TO_FIT * size / len(smallest)
        fuller = least_of(rung, before, sizes=sizes, room_bytes=room, size_bytes=size)
        if fuller is None:
            return smallest
        told = _with(told_before, rung.told_of_part or rung.told)
        stored = pack(_noted(fuller, told), level=9)
        return stored if len(stored) <= limit_bytes else smallest
    empty = with_answers(Record.empty())
    empty.origin = dataclasses.replace(record.origin, exception="", notices=[], checks=[])
    return pack(
        _noted(without.with_shorter_texts(empty, longest=200), [say("reports.reduced.graph")])
    )


def _with(told: list[str], more: str) -> list[str]:
    return [*told, more] if more and more not in told else told


def _noted(record: Record, told: list[str]) -> Record:
    """Return the record with a notice of what its notebook does without."""
    if not told:
        return record
    notice = say("reports.reduced", parts=listing(told))
    origin = dataclasses.replace(record.origin, notices=[notice, *record.origin.notices])
    tables = {name: record.tables[name] for name in record.tables}
    assert tables.keys() >= RECORD_TABLES.keys()
    return Record(tables, record.strings, origin)
