"""Compares two runs of the same code, op by op."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paddle_lab.capture.evidence.values.digests import UNKNOWN, Digests
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import RECORD_TABLES, ROLES
from paddle_lab.trace.table import StringPool, TableBuilder

OUTPUT, EXTERNAL, PATH = "output", "external", "path"
"""What differed: an output of the op (``slot`` counts outputs), an input that no op made (``slot``
counts inputs), or which op ran."""

_INPUT = ROLES.index("input")


@dataclass(frozen=True)
class Run:
    """The record and the digests of one run."""

    record: Record
    digests: Digests

    @property
    def is_concurrent(self) -> bool:
        """Whether threads called ops alternately. Then the order of ops may differ between runs.

        The order is fixed if each other thread ends before the first thread continues.
        """
        threads = self.record.ops["thread"]
        turns = threads[1:][np.diff(threads) != 0].tolist()
        others = [thread for thread in turns if thread != threads[0]]
        return len(others) != len(set(others))

    def names(self) -> list[str]:
        """Return the ops' names, in order."""
        return [self.record.text(name) for name in self.record.ops["name"].tolist()]

    def inputs(self) -> dict[int, list[int]]:
        """Return for each op the tensors that it read, by slot."""
        uses = self.record.uses
        found: dict[int, list[int]] = {}
        columns = (uses[name].tolist() for name in ("op", "tensor", "role"))
        for op, tensor, role in zip(*columns, strict=True):
            if role == _INPUT and tensor >= 0:
                found.setdefault(op, []).append(tensor)
        return found


class Difference(NamedTuple):
    """A row of ``rerun_differences``, without the check."""

    op: int
    slot: int
    what: str


def differences(first: Run, second: Run) -> list[Difference]:
    """Return where the second run differs from the first, up to the first op that differs."""
    names, other_names = first.names(), second.names()
    inputs, other_inputs = first.inputs(), second.inputs()
    found: list[Difference] = []
    seen: set[int] = set()
    for op, (name, other_name) in enumerate(zip(names, other_names, strict=False)):
        if name != other_name:
            return [*found, Difference(op, -1, PATH)]
        for slot, (tensor, other) in enumerate(
            zip(inputs.get(op, ()), other_inputs.get(op, ()), strict=False)
        ):
            met, other_met = first.digests.met.get(tensor), second.digests.met.get(other)
            if met and other_met and met != other_met and tensor not in seen:
                seen.add(tensor)
                found.append(Difference(op, slot, EXTERNAL))
        found.extend(_outputs(op, first.digests, second.digests))
    if len(names) != len(other_names):
        found.append(Difference(min(len(names), len(other_names)) - 1, -1, PATH))
    return found


def _outputs(op: int, first: Digests, second: Digests) -> Iterator[Difference]:
    pairs = zip(first.outputs.get(op, ()), second.outputs.get(op, ()), strict=False)
    for slot, (one, other) in enumerate(pairs):
        if one != other and UNKNOWN not in (one, other):
            yield Difference(op, slot, OUTPUT)


def with_differences(record: Record, by_check: dict[str, list[Difference]]) -> Record:
    """Return a copy of the record with the differences that each check found."""
    strings = StringPool(record.strings)
    rows = TableBuilder(RECORD_TABLES["rerun_differences"])
    last = len(record.ops) - 1
    for check, found in by_check.items():
        for difference in found:
            op = min(difference.op, last)
            rows.append(op, difference.slot, strings[check], strings[difference.what])
    tables = {**record.tables, "rerun_differences": rows.build()}
    return Record(tables, strings.to_list(), record.origin, record.grad_values, record.kept_values)
