"""Ops and grad nodes put together: one stands for many, and the edges between what is left stay.

What stands for many is a row like any other, named for example ``"22 ops, not stored"``; the table
``stand_ins`` tells how many it stands for. What lies between those put together is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.trees import Keys, common_ancestors, depths, nearest_marked
from paddle_lab.analysis.user_frames import op_frames
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import STAND_IN_TABLES, TENSOR_KINDS
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.views.reduction.tidying import Kept, kept_with_parents, without_loose_ends

_OWN = (TENSOR_KINDS.index("parameter"), TENSOR_KINDS.index("buffer"))
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Parts:
    """What is put together."""

    of_op: Keys
    """Number of the part that each op is in, from 0; -1 for ops that stay. Shape ``[ops]``."""
    group: Keys
    """Group in which each part's op is drawn, -1 for the top level. Shape ``[parts]``."""


def contracted(record: Record, parts: Parts) -> Record:
    """Return the record with one op, and one grad node, for each part.

    Parameters
    ----------
    record
        A record with answer tables.
    parts
        Each has at least one op.
    """
    return _Contraction(record, parts).record()


class _Contraction:
    def __init__(self, record: Record, parts: Parts) -> None:
        self._record = record
        self._parts = parts
        self._strings = StringPool(record.strings)
        self._counts = _counts_before(record)
        part, count = parts.of_op, len(parts.group)
        first = np.full(count, len(part))
        inside = part >= 0
        np.minimum.at(first, part[inside], np.flatnonzero(inside))
        stays = ~inside
        stays[first] = True
        self._ops = Kept(stays, np.where(inside, first[part], np.arange(len(part))))
        self._first = first
        self._is_op_changed = inside
        self._nodes, self._node_part = self._kept_nodes()
        self._edge_rows = self._kept_edges()

    def record(self) -> Record:
        record = self._record
        tables = dict(record.tables)
        groups = self._kept_groups()
        tables["ops"] = self._op_rows()
        tables["op_groups"] = Table({"group": groups.of(self._op_groups())[self._ops.rows]})
        tables["op_frames"] = op_frames(Record(tables, record.strings, record.origin))
        tables["uses"] = self._use_rows()
        tables["op_edges"] = self._op_edge_rows()
        tables["groups"] = self._group_rows(groups)
        tables["grad_nodes"] = self._grad_node_rows()
        node_groups = record.grad_node_groups["group"].copy()
        changed = self._node_part >= 0
        node_groups[changed] = self._parts.group[self._node_part[changed]]
        tables["grad_node_groups"] = Table({"group": groups.of(node_groups)[self._nodes.rows]})
        tables["grad_edges"] = self._grad_edge_rows()
        tables["grad_stats"], tables["grad_histograms"] = self._gradient_rows()
        tables["stand_ins"] = self._stand_in_rows()
        calls = dict(record.backward_calls.columns)
        before = np.append(0, np.cumsum(self._ops.stays)).astype(np.int32)
        calls["ops_before"] = before[np.clip(calls["ops_before"], 0, len(before) - 1)]
        tables["backward_calls"] = Table(calls)
        for name, columns in {
            "grad_roots": ("backward_call", "grad_node"),
            "backward_members": ("backward_call", "grad_node"),
        }.items():
            nodes = self._nodes.of(record.tables[name]["grad_node"])
            pairs = np.stack([record.tables[name]["backward_call"], nodes], axis=1)
            pairs = pairs[_first_of_equal(pairs)]
            tables[name] = Table(dict(zip(columns, pairs.T.astype(np.int32), strict=True)))
        for name in ("findings", "finding_marks", "allocations"):
            if name in tables:
                table = dict(tables[name].columns)
                table["op"] = self._ops.of(table["op"])
                table["grad_node"] = self._nodes.of(table["grad_node"])
                tables[name] = Table(table)
        for name in ("tensors", "scopes"):
            column = {"tensors": "producer", "scopes": "op"}[name]
            tables[name] = Table(
                {**tables[name].columns, column: self._ops.of(tables[name][column])}
            )
        whole = Record(tables, self._strings.to_list(), record.origin)
        return without_loose_ends(whole, is_stand_in=self._is_stand_in_op())

    # -- ops ----------------------------------------------------------------------------------

    def _is_stand_in_op(self) -> Flags:
        flags = np.zeros(len(self._ops.rows), np.bool_)
        flags[self._ops.of(self._first)] = True
        return flags

    def _op_groups(self) -> Keys:
        groups = self._record.op_groups["group"].copy()
        groups[self._first] = self._parts.group
        return groups

    def _op_rows(self) -> Table:
        part, inside = self._parts.of_op, self._is_op_changed
        columns = {name: column.copy() for name, column in self._record.ops.columns.items()}
        for name in ("duration_ns", "raised"):
            sums = np.zeros(len(self._first), np.int64)
            np.add.at(sums, part[inside], columns[name][inside])
            columns[name][self._first] = sums if name == "duration_ns" else np.minimum(sums, 1)
        number = self._sums(self._counts[0])
        columns["name"][self._first] = [
            self._strings[f"{count:,} op{'s' * (count > 1)}, not stored"]
            for count in number.tolist()
        ]
        columns["attributes"][self._first] = self._strings[""]
        columns["stack"][self._first] = self._shared_stacks()
        columns["is_pylayer"][self._first] = 0
        return Table({name: column[self._ops.rows] for name, column in columns.items()})

    def _shared_stacks(self) -> Keys:
        """Return, for each part, the stack below which all its ops were called, -1 for none."""
        callers = self._record.stacks["caller"]
        depth = depths(callers)
        part = self._parts.of_op[self._is_op_changed].astype(np.int64)
        pairs = np.unique(part << 32 | (self._record.ops["stack"][self._is_op_changed] + 1))
        # Two by two, until each part has one.
        while True:
            part = pairs >> 32
            stack: Keys = ((pairs & 0xFFFFFFFF) - 1).astype(np.int32)
            place = np.arange(len(part)) - np.searchsorted(part, part)
            is_pair = np.append((part[1:] == part[:-1]) & (place[:-1] % 2 == 0), False)
            if not is_pair.any():
                return stack
            at = np.flatnonzero(is_pair)
            stack[at] = common_ancestors(callers, depth, stack[at], stack[at + 1])
            left = np.ones(len(part), np.bool_)
            left[at + 1] = False
            pairs = np.unique(part[left] << 32 | (stack[left] + 1))

    def _sums(self, counts: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        sums = np.zeros(len(self._first), np.int64)
        np.add.at(sums, self._parts.of_op[self._is_op_changed], counts[self._is_op_changed])
        return sums

    def _use_rows(self) -> Table:
        """Return what ops read and made; of what stands for many, what crosses its border."""
        uses, tensors = self._record.uses, self._record.tensors
        op = self._ops.image[uses["op"]]
        crosses = np.append(self._crossing_tensors(), False)
        is_own = np.append(np.isin(tensors["kind"], _OWN), True)
        changed = self._is_op_changed[uses["op"]]
        tensor = uses["tensor"]
        kept = np.flatnonzero(~changed | (crosses[tensor] & ~is_own[tensor]))
        keys = np.stack([op[kept], tensor[kept], uses["role"][kept], uses["slot"][kept]], axis=1)
        keys[:, 3] = np.where(changed[kept], 0, keys[:, 3])
        kept = kept[_first_of_equal(keys)]
        columns = {name: column[kept] for name, column in uses.columns.items()}
        return Table({**columns, "op": self._ops.of(columns["op"])})

    def _crossing_tensors(self) -> Flags:
        """Tensors that more than one op of what is left has to do with."""
        uses, tensors = self._record.uses, self._record.tensors
        count = len(tensors)
        image = self._ops.image.astype(np.int64)
        largest, least = np.full(count, -1), np.full(count, len(image))
        for tensor, op in (
            (uses["tensor"], uses["op"]),
            (np.arange(count), tensors["producer"]),
        ):
            is_both = (tensor >= 0) & (op >= 0)
            np.maximum.at(largest, tensor[is_both], image[op[is_both]])
            np.minimum.at(least, tensor[is_both], image[op[is_both]])
        return largest > least

    def _op_edge_rows(self) -> Table:
        edges = self._record.op_edges
        source, target = self._ops.image[edges["source"]], self._ops.image[edges["target"]]
        changed = self._is_op_changed[edges["source"]] | self._is_op_changed[edges["target"]]
        kept = np.flatnonzero(source != target)
        # Between what stands for many and something else a single line is left.
        other = np.where(changed[kept], -1, kept)
        kept = kept[_first_of_equal(np.stack([source[kept], target[kept], other], axis=1))]
        columns = {name: column[kept] for name, column in edges.columns.items()}
        for name in ("source", "target"):
            columns[name] = self._ops.of(columns[name])
        return Table(columns)

    # -- groups -------------------------------------------------------------------------------

    def _kept_groups(self) -> Kept:
        """Return the groups that hold an op of what is left, a grad node, or one that does."""
        groups = self._record.groups
        used = np.zeros(len(groups), np.bool_)
        for group in (
            self._op_groups()[self._ops.rows],
            self._record.grad_node_groups["group"][self._nodes.rows][
                self._node_part[self._nodes.rows] < 0
            ],
            self._parts.group,
        ):
            used[group[group >= 0]] = True
        used = kept_with_parents(used, groups["parent"])
        return Kept(used, nearest_marked(groups["parent"], used))

    def _group_rows(self, kept: Kept) -> Table:
        columns = {name: column[kept.rows] for name, column in self._record.groups.columns.items()}
        columns["parent"] = kept.of(columns["parent"])
        columns["first_op"] = self._ops.of(columns["first_op"])
        return Table(columns)

    # -- the backward graph -------------------------------------------------------------------

    def _kept_nodes(self) -> tuple[Kept, Keys]:
        """Return which grad nodes stay, and the part of those that do not."""
        nodes, edges = self._record.grad_nodes, self._record.grad_edges
        part = np.append(self._parts.of_op, -1)[nodes["op"]].astype(np.int32)
        # A leaf, or what else no op has made, goes with all those that hand it gradients.
        largest, least = np.full(len(part), -1), np.full(len(part), len(self._first))
        np.maximum.at(largest, edges["target"], part[edges["source"]])
        np.minimum.at(least, edges["target"], part[edges["source"]])
        goes_along = (nodes["op"] < 0) & (largest == least)
        part[goes_along] = largest[goes_along]
        first = np.full(len(self._first), len(part))
        inside = part >= 0
        np.minimum.at(first, part[inside], np.flatnonzero(inside))
        stays = ~inside
        stays[first[first < len(part)]] = True
        image = np.where(inside, first[part], np.arange(len(part)))
        return Kept(stays, image), part

    def _kept_edges(self) -> Keys:
        edges = self._record.grad_edges
        source, target = self._nodes.image[edges["source"]], self._nodes.image[edges["target"]]
        changed = (self._node_part[edges["source"]] >= 0) | (self._node_part[edges["target"]] >= 0)
        kept = np.flatnonzero(source != target)
        other = np.where(changed[kept], -1, kept)
        keys = np.stack([source[kept], target[kept], other], axis=1)
        return kept[_first_of_equal(keys)].astype(np.int32)

    def _grad_node_rows(self) -> Table:
        rows = self._nodes.rows
        columns = {
            name: column[rows].copy() for name, column in self._record.grad_nodes.columns.items()
        }
        part = self._node_part[rows]
        changed = np.flatnonzero(part >= 0)
        columns["name"][changed] = [
            self._strings[f"{count:,} grad node{'s' * (count > 1)}, not stored"]
            for count in self._node_counts()[part[changed]].tolist()
        ]
        columns["address"][changed] = 0
        columns["parameter"][changed] = -1
        columns["op"] = self._ops.of(columns["op"])
        columns["op"][changed] = self._ops.of(self._first)[part[changed]]
        return Table(columns)

    def _node_counts(self) -> npt.NDArray[np.int64]:
        return self._node_sums(self._counts[1])

    def _node_sums(self, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        sums = np.zeros(len(self._first), np.int64)
        inside = self._node_part >= 0
        np.add.at(sums, self._node_part[inside], counts[inside])
        return sums

    def _grad_edge_rows(self) -> Table:
        rows = self._edge_rows
        columns = {name: column[rows] for name, column in self._record.grad_edges.columns.items()}
        for name in ("source", "target"):
            columns[name] = self._nodes.of(columns[name])
        return Table(columns)

    def _gradient_rows(self) -> tuple[Table, Table]:
        """Return what was in the gradients that passed what is left."""
        stats, histograms = self._record.grad_stats, self._record.grad_histograms
        edge_stays = np.zeros(len(self._record.grad_edges) + 1, np.bool_)
        edge_stays[self._edge_rows] = True
        edges = Kept(edge_stays[:-1], np.arange(len(edge_stays) - 1))
        edge_stays[-1] = True
        kept = Kept(edge_stays[stats["grad_edge"]], np.arange(len(stats)))
        columns = {name: column[kept.rows] for name, column in stats.columns.items()}
        columns["grad_edge"] = edges.of(columns["grad_edge"])
        columns["grad_node"] = self._nodes.of(columns["grad_node"])
        rows = np.flatnonzero(kept.stays[histograms["grad_stat"]])
        counted = {name: column[rows] for name, column in histograms.columns.items()}
        counted["grad_stat"] = kept.of(counted["grad_stat"])
        return Table(columns), Table(counted)

    # -- how many -----------------------------------------------------------------------------

    def _stand_in_rows(self) -> Table:
        """Return what stood for many before as well."""
        ops = self._counts[0].copy()
        ops[self._first] = self._sums(self._counts[0])
        part = self._node_part[self._nodes.rows]
        changed = part >= 0
        kept_nodes, kept_leaves = (counts[self._nodes.rows] for counts in self._counts[1:])
        kept_nodes[changed] = self._node_counts()[part[changed]]
        kept_leaves[changed] = self._node_sums(self._counts[2])[part[changed]]
        kept_ops = ops[self._ops.rows]
        of_op, of_node = np.flatnonzero(kept_ops > 1), np.flatnonzero(kept_nodes > 1)
        return Table.from_sequences(
            STAND_IN_TABLES["stand_ins"],
            {
                "op": np.append(of_op, np.full(len(of_node), -1)).tolist(),
                "grad_node": np.append(np.full(len(of_op), -1), of_node).tolist(),
                "count": np.append(kept_ops[of_op], kept_nodes[of_node]).tolist(),
                "leaves": np.append(np.zeros_like(of_op), kept_leaves[of_node]).tolist(),
            },
        )


def _counts_before(record: Record) -> tuple[npt.NDArray[np.int64], ...]:
    """Return how many ops each op stands for, grad nodes each grad node, and leaves among them."""
    ops = np.ones(len(record.ops), np.int64)
    nodes = np.ones(len(record.grad_nodes), np.int64)
    leaves = (record.grad_nodes["parameter"] >= 0).astype(np.int64)
    table = record.tables.get("stand_ins")
    if table is not None:
        for counts, key, count in (
            (ops, "op", "count"),
            (nodes, "grad_node", "count"),
            (leaves, "grad_node", "leaves"),
        ):
            told = table[key] >= 0
            counts[table[key][told]] = table[count][told]
    return ops, nodes, leaves


def _first_of_equal(rows: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return positions of rows that no earlier one equals, in order; ``rows`` has shape [n, k]."""
    number = np.zeros(len(rows), np.int64)
    for column in rows.T:
        pairs = number << 32 | (column.astype(np.int64) + 1)
        _, first, number = np.unique(pairs, return_index=True, return_inverse=True)
    return np.sort(first) if rows.size else np.empty(0, np.int64)
