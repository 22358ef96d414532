"""What to put together: blocks built alike, the middle of long rows, the insides of groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.trees import Keys, depths
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import MARK_ROLES
from paddle_lab.views.reduction.tidying import Flags, kept_with_parents

_POINTED_AT = ("origin", "cut", "failed")
_MOST_PROTECTED = 200


@dataclass(frozen=True)
class Parts:
    """What is put together."""

    of_op: Keys
    """Number of the part that each op is in, from 0; -1 for ops that stay. Shape ``[ops]``."""
    group: Keys
    """Group in which each part's op is drawn, -1 for the top level. Shape ``[parts]``."""


def equal_blocks(
    record: Record, *, in_a_row: bool = False, outermost: bool = False, share: float = 1.0
) -> Parts:
    """Return the insides of blocks that are built as one before them in the same group is.

    Parameters
    ----------
    record
        A record with answer tables.
    in_a_row
        Whether only those count that directly follow one of their like.
    outermost
        Whether only those that are least deep count: of equal steps, the first keeps the equal
        blocks inside it.
    share
        Of how many of each row, the last ones; 1 for all but the first.
    """
    groups = record.groups
    keys = np.stack([groups[name] for name in ("parent", "structure", "kind")], axis=1)
    by_key = (groups["first_op"], keys[:, 0]) if in_a_row else (groups["first_op"], *keys.T[::-1])
    order = np.lexsort(by_key)
    is_next = np.append(False, (keys[order[1:]] == keys[order[:-1]]).all(axis=1))[: len(order)]
    closed = np.zeros(len(groups), np.bool_)
    closed[order] = is_next & _is_of_last(~is_next, share)
    closed &= (groups["structure"] >= 0) & (groups["op_count"] > 1)
    if outermost:
        depth = depths(groups["parent"])
        closed &= depth == depth[closed].min(initial=len(depth))
    return _insides(record, closed)


def insides(record: Record, *, depth: int, share: float = 1.0) -> Parts:
    """Return the insides of the groups that are ``depth`` deep (0: those at the top level).

    Parameters
    ----------
    share
        Of how many of them, the last ones.
    """
    closed = depths(record.groups["parent"]) == depth
    here = np.flatnonzero(closed)
    in_order = here[np.argsort(record.groups["first_op"][here], kind="stable")]
    closed[in_order[: int((1 - share) * len(in_order))]] = False
    return _insides(record, closed)


def longest_row(record: Record) -> int:
    """Return how many ops and groups are side by side, where they are most."""
    parent = np.concatenate((record.op_groups["group"], record.groups["parent"]))
    return int(np.bincount(parent + 1, minlength=1).max())


def middles(record: Record, *, ends: int) -> Parts:
    """Return the middle of each row of more than ``2 * ends`` ops and groups side by side."""
    op_group, groups = record.op_groups["group"], record.groups
    op_count, group_count = len(op_group), len(groups)
    parent = np.concatenate((op_group, groups["parent"]))
    first_op = np.concatenate((np.arange(op_count), groups["first_op"]))
    order = np.lexsort((first_op, parent))
    in_order = parent[order]
    start = np.searchsorted(in_order, in_order, side="left")
    end = np.searchsorted(in_order, in_order, side="right")
    rank = np.arange(len(order)) - start
    is_middle = (rank >= ends) & (rank < end - start - ends) & (end - start > 2 * ends + 1)
    told = np.concatenate(_protected(record))[order]
    # What a finding points at stays, and parts the row.
    is_middle &= ~told
    part = np.where(is_middle, np.cumsum(told), -1)
    own = np.full(op_count + group_count, -1, np.int64)
    own[order] = np.where(part >= 0, (in_order.astype(np.int64) + 1) << 32 | part, -1)
    outer = _outermost(groups["parent"], own[op_count:])
    of_op = np.append(outer, -1)[op_group]
    of_op = np.where(of_op >= 0, of_op, own[:op_count])
    keys, of_op = np.unique(of_op, return_inverse=True)
    shift = int(len(keys) > 0 and keys[0] < 0)
    return _larger(Parts((of_op - shift).astype(np.int32), (keys[shift:] >> 32) - 1))


def _is_of_last(begins: Flags, share: float) -> Flags:
    """Tell which items are among the last of their row.

    Parameters
    ----------
    begins
        Whether a row begins at an item.
    share
        Of how many of a row, its first not counted.
    """
    starts = np.flatnonzero(begins)
    lengths = np.diff(np.append(starts, len(begins)))
    rank = np.arange(len(begins)) - np.repeat(starts, lengths)
    is_last: Flags = rank > (1 - share) * np.repeat(lengths - 1, lengths)
    return is_last


def _insides(record: Record, closed: Flags) -> Parts:
    """Return the inside of each closed group that is in no other one."""
    parent = record.groups["parent"]
    told = _protected(record)[1]
    own = np.where(closed & ~told, np.arange(len(closed)), -1)
    outer = np.append(_outermost(parent, own), -1)[record.op_groups["group"]]
    keys, of_op = np.unique(outer, return_inverse=True)
    shift = int(len(keys) > 0 and keys[0] < 0)
    return _larger(Parts((of_op - shift).astype(np.int32), keys[shift:]))


def _outermost(parent: npt.NDArray[Any], own: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return, for each group, the number of the outermost one around it that has one."""
    found = own.astype(np.int64)
    above = parent.astype(np.int32)
    # After round k the groups less than 2^k steps above have been asked.
    while len(here := np.flatnonzero(above >= 0)):
        told = found[above[here]]
        found[here] = np.where(told >= 0, told, found[here])
        above[here] = above[above[here]]
    return found


def _larger(parts: Parts) -> Parts:
    """Return the parts of two ops or more."""
    inside = parts.of_op >= 0
    count = np.bincount(parts.of_op[inside], minlength=len(parts.group))
    number = np.where(count > 1, np.cumsum(count > 1) - 1, -1)
    of_op = np.append(number, -1)[parts.of_op].astype(np.int32)
    return Parts(of_op, parts.group[count > 1].astype(np.int32))


def _protected(record: Record) -> tuple[Flags, Flags]:
    """Return the ops that a finding points at, and the groups that hold one."""
    ops = np.zeros(len(record.ops), np.bool_)
    groups = np.zeros(len(record.groups), np.bool_)
    if "findings" not in record.tables:
        return ops, groups
    marks = record.finding_marks
    told = np.isin(marks["role"], [MARK_ROLES.index(role) for role in _POINTED_AT])
    node_op = np.append(record.grad_nodes["op"], np.int32(-1))
    keys: Keys = np.concatenate(
        (
            record.findings["op"],
            node_op[record.findings["grad_node"]],
            marks["op"][told],
            node_op[marks["grad_node"][told]],
        )
    )
    keys = keys[keys >= 0]
    _, first = np.unique(keys, return_index=True)
    # Worst first; of very many findings not all can keep what they point at.
    keys = keys[np.sort(first)[:_MOST_PROTECTED]]
    ops[keys] = True
    above = record.op_groups["group"][keys]
    groups[above[above >= 0]] = True
    return ops, kept_with_parents(groups, record.groups["parent"])
