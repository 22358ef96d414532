"""Compares two runs of the same code, op by op, by the digests in their records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import RECORD_TABLES, ROLES
from paddle_lab.trace.table import StringPool, TableBuilder

OUTPUT, EXTERNAL, PATH = "output", "external", "path"
"""What differed: an output of the op (``slot`` counts outputs), an input that no op made (``slot``
counts inputs), or which op ran."""

_WHAT = {"input": EXTERNAL, "output": OUTPUT}


class Difference(NamedTuple):
    """A row of ``rerun_differences``, without the check."""

    op: int
    slot: int
    what: str


def differences(first: Record, second: Record) -> list[Difference]:
    """Return where the second run differs from the first, up to the first op that differs."""
    names = (map(each.text, each.ops["name"].tolist()) for each in (first, second))
    pairs = enumerate(zip_longest(*names))
    path = next((op for op, (name, other) in pairs if name != other), len(first.ops))
    others = {place: value for place, _, value in _values(second)}
    found: list[Difference] = []
    seen: set[int] = set()
    for place, tensor, value in _values(first):
        if place.op < path and others.get(place, value) != value and tensor not in seen:
            found.append(place)
            if place.what == EXTERNAL:
                seen.add(tensor)
    if path < max(len(first.ops), len(second.ops)):
        found.append(Difference(path, -1, PATH))
    return found


def _values(record: Record) -> Iterator[tuple[Difference, int, tuple[int, str, str]]]:
    """Yield the outputs of ops, and the inputs that no op made, that have a digest.

    Yields
    ------
    tuple
        The place where this value may differ, its tensor, and its digest, shape and dtype.
    """
    tensors, digests, text = record.tensors, record.value_digests, record.text
    of_digest = record.value_stats["tensor"][digests["value_stat"]]
    # ``set_value`` gives a row further digests. The first one is that of the value it began with.
    found = zip(of_digest.tolist()[::-1], digests["digest"].tolist()[::-1], strict=True)
    digest = dict(found)
    producer, shape, dtype = (tensors[name].tolist() for name in ("producer", "shape", "dtype"))
    slots: Counter[tuple[int, int]] = Counter()
    uses = (record.uses[name].tolist() for name in ("op", "role", "tensor"))
    for op, role, tensor in zip(*uses, strict=True):
        slot, what = slots[op, role], _WHAT.get(ROLES[role], "")
        slots[op, role] += 1
        if what and tensor in digest and (what == OUTPUT or producer[tensor] < 0):
            value = digest[tensor], text(shape[tensor]), text(dtype[tensor])
            yield Difference(op, slot, what), tensor, value


def with_differences(record: Record, by_check: dict[str, list[Difference]]) -> Record:
    """Return a copy of the record with the differences that each check found."""
    strings = StringPool(record.strings)
    last = len(record.ops) - 1
    rows = TableBuilder(RECORD_TABLES["rerun_differences"])
    for check, found in by_check.items():
        for op, slot, what in found:
            rows.append(min(op, last), slot, strings[check], strings[what])
    tables = {**record.tables, "rerun_differences": rows.build()}
    return Record(tables, strings.to_list(), record.origin, record.grad_values, record.kept_values)
