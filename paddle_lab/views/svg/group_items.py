"""What is directly in a group: its ops, and its groups with those together that are built alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from paddle_lab.trace.record import Record

_NUMBER_AT_END = re.compile(r"^(.*?)(\d+)$", re.DOTALL)


@dataclass(frozen=True)
class Item:
    """Something directly in a group: one op, or groups that are built alike (mostly one)."""

    op: int = -1
    groups: tuple[int, ...] = ()
    middle: tuple[int, ...] = ()
    """Ops in the middle of a long row of ops, which no picture has room for."""


class GroupItems:
    """Items of groups, in the order of their first ops.

    Parameters
    ----------
    record
        A record with answer tables.
    most_rows
        Of a row of ops that is much longer, so many at each end are items of their own.
    """

    def __init__(self, record: Record, most_rows: int) -> None:
        self._most_rows = most_rows
        self._structure = record.groups["structure"].tolist()
        self._op_count = record.groups["op_count"].tolist()
        self._children = _Children(record)
        self.of = cache(self._of)

    def _of(self, group: int) -> tuple[Item, ...]:
        """Return what is directly in a group (-1: the top level), alike neighbours together."""
        items: list[int | list[int]] = []
        for child, is_group in self._children.of(group):
            if not is_group:
                items.append(child)
                continue
            run = items[-1] if items else -1
            structure = self._structure[child]
            if isinstance(run, list) and structure >= 0 and self._structure[run[0]] == structure:
                run.append(child)
            else:
                items.append([child])
        parts: list[Item] = []
        ops: list[int] = []
        for item in items:
            if isinstance(item, int):
                ops.append(item)
                continue
            parts.extend(self._row_of_ops(ops))
            parts.extend(self._unfolded(item))
            ops = []
        parts.extend(self._row_of_ops(ops))
        return tuple(parts)

    def _row_of_ops(self, ops: list[int]) -> list[Item]:
        """Return ops one by one; of very many only those at both ends."""
        ends = self._most_rows
        if len(ops) <= 2 * ends + 1:
            return [Item(op=op) for op in ops]
        first, last = ops[:ends], ops[-ends:]
        return [
            *(Item(op=op) for op in first),
            Item(middle=tuple(ops[ends:-ends])),
            *(Item(op=op) for op in last),
        ]

    def _unfolded(self, item: list[int]) -> Sequence[Item]:
        """Return a run of alike groups, or the groups of a short run one by one."""
        fewest = 2 if self._op_count[item[0]] > 1 else 4
        if len(item) >= fewest:
            return (Item(groups=tuple(item)),)
        return [Item(groups=(group,)) for group in item]


class _Children:
    """The ops and groups that are directly in a group, in the order of (first) ops."""

    def __init__(self, record: Record) -> None:
        op_group, groups = record.op_groups["group"], record.groups
        ops, group_keys = np.arange(len(op_group)), np.arange(len(groups))
        holder = np.concatenate((op_group, groups["parent"]))
        is_group = np.repeat([False, True], (len(ops), len(group_keys)))
        child = np.concatenate((ops, group_keys))
        order = np.lexsort((child, np.concatenate((ops, groups["first_op"])), holder))
        self._child, self._is_group = child[order], is_group[order]
        # Group -1, the top level, comes first.
        self._ends = np.searchsorted(holder[order], np.arange(-1, len(groups)), side="right")

    def of(self, group: int) -> Iterator[tuple[int, bool]]:
        """Yield keys, and whether they are groups; ``group`` -1 is the top level."""
        start = int(self._ends[group]) if group >= 0 else 0
        part = slice(start, int(self._ends[group + 1]))
        return zip(self._child[part].tolist(), self._is_group[part].tolist(), strict=True)


def fold_label(first: str, last: str) -> str:
    """Return one label for a run: ``layers.0–11``, ``relu``, ``conv1–3``, ``a … z``."""
    if first == last:
        return first
    start, end = _NUMBER_AT_END.match(first), _NUMBER_AT_END.match(last)
    if start and end and start[1] == end[1]:
        return f"{first}–{end[2]}"
    return f"{first} … {last}"
