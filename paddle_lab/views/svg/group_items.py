"""The items directly in a group: ops and groups. Adjacent groups of one structure are one item."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.trees import csr, gathered

_NUMBER_AT_END = re.compile(r"^(.*?)(\d+)$", re.DOTALL)


@dataclass(frozen=True)
class Item:
    """A part directly inside a group: an op, groups with the same structure, or a gap."""

    ops: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    is_gap: bool = False
    """Whether the item replaces ops and groups for which the picture has no room."""


class GroupItems:
    """Items of groups, in the order of their first ops.

    Ops that only initialize parameters are omitted if the record has other ops.

    Parameters
    ----------
    record
        A record with answer tables.
    most_rows
        How many ops to show at each end of a long sequence of ops.
    """

    def __init__(self, record: Record, most_rows: int) -> None:
        op_group, groups = record.op_groups["group"], record.groups
        self._most_rows = most_rows
        self._structure = groups["structure"].tolist()
        self._op_count = groups["op_count"].tolist()
        # A number below ``_first_group`` is an op.
        self._first_group = len(op_group)
        order = np.argsort(np.append(np.arange(len(op_group)), groups["first_op"]), kind="stable")
        order = order[~_is_left_out(record)[order]]
        holder = np.append(op_group, groups["parent"])[order]
        # The top level has the number -1, so it comes first.
        self._starts, rows = csr(holder + 1, len(groups) + 1)
        self._inside = order[rows]
        self.of = cache(self._of)

    def _of(self, group: int) -> tuple[Item, ...]:
        """Return the items directly in a group, or at the top level for -1."""
        inside = self._inside[self._starts[group + 1] : self._starts[group + 2]].tolist()
        items: list[Item] = []
        for kind, run in groupby(inside, self._kind):
            if kind is None:
                items.extend(self._ops(tuple(run)))
            else:
                items.extend(self._groups(tuple(key - self._first_group for key in run)))
        return tuple(items)

    def _kind(self, key: int) -> int | None:
        """Return a key that adjacent groups with equal structure share, None for ops."""
        if key < self._first_group:
            return None
        structure: int = self._structure[key - self._first_group]
        return structure if structure >= 0 else -1 - key

    def _ops(self, ops: tuple[int, ...]) -> Iterator[Item]:
        """Yield ops one by one. If there are very many, yield only those at both ends."""
        ends = self._most_rows
        if len(ops) <= 2 * ends + 1:
            yield from (Item((op,)) for op in ops)
            return
        yield from (Item((op,)) for op in ops[:ends])
        yield Item(ops[ends:-ends], is_gap=True)
        yield from (Item((op,)) for op in ops[-ends:])

    def _groups(self, groups: tuple[int, ...]) -> list[Item]:
        """Return one item for groups with the same structure; few groups are separate items."""
        fewest = 2 if self._op_count[groups[0]] > 1 else 4
        if len(groups) >= fewest:
            return [Item(groups=groups)]
        return [Item(groups=(group,)) for group in groups]


def _is_left_out(record: Record) -> npt.NDArray[np.bool_]:
    """Mark ops and groups that only initialize parameters. If all ops do so, mark none."""
    group, is_initial = (record.op_groups[name] for name in ("group", "is_initial"))
    if is_initial.all():
        return np.zeros(len(group) + len(record.groups), bool)
    inside = np.bincount(group[(group >= 0) & (is_initial > 0)], minlength=len(record.groups))
    inside = gathered(record.groups["parent"], inside, np.add)
    return np.append(is_initial > 0, inside == record.groups["op_count"])


def fold_label(first: str, last: str) -> str:
    """Return a label for several items: ``layers.0–11``, ``relu``, ``conv1–3`` or ``a … z``."""
    if first == last:
        return first
    start, end = _NUMBER_AT_END.match(first), _NUMBER_AT_END.match(last)
    if start and end and start[1] == end[1]:
        return f"{first}–{end[2]}"
    return f"{first} … {last}"
