"""Grad nodes put together as their ops were, the edges between them, and what passed those."""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.recomputation import paired_ops
from paddle_lab.analysis.trees import Keys
from paddle_lab.trace.record import Record
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.views.reduction.contracted_ops import ContractedOps
from paddle_lab.views.reduction.parts import Parts
from paddle_lab.views.reduction.stand_ins import Counts, Numbers
from paddle_lab.views.reduction.tidying import Kept, edges_anew, edges_left, first_of_equal
from paddle_lab.words import say


class ContractedNodes:
    """The grad nodes of a record, one for each part that has any and those that are in none.

    Parameters
    ----------
    record, parts
        As of :func:`paddle_lab.views.reduction.contraction.contracted`.
    ops
        The ops that are left.
    """

    def __init__(self, record: Record, parts: Parts, ops: ContractedOps) -> None:
        self._record = record
        self._parts = parts
        self._ops = ops
        self.kept, self._part = self._kept_nodes()
        self._edge_rows = edges_left(record.grad_edges, self.kept, self._part >= 0)

    def groups(self) -> Keys:
        """Return the group of each grad node that is left."""
        groups = self._record.grad_node_groups["group"].copy()
        changed = self._part >= 0
        groups[changed] = self._parts.group[self._part[changed]]
        left: Keys = groups[self.kept.rows]
        return left

    def counts(self, counts: Numbers) -> Numbers:
        """Return for how many each that is left stands, of how many each stood for before."""
        kept = counts[self.kept.rows]
        part = self._part[self.kept.rows]
        kept[part >= 0] = self._sums(counts)[part[part >= 0]]
        return kept

    def pairs_with_calls(self, name: str) -> Table:
        """Return a table of backward calls and grad nodes, each pair once."""
        table = self._record.tables[name]
        pairs = np.stack([table["backward_call"], self.kept.of(table["grad_node"])], axis=1)
        calls, nodes = pairs[first_of_equal(pairs)].T.astype(np.int32)
        return Table({"backward_call": calls, "grad_node": nodes})

    def inner_rows(self) -> Table:
        """Return beside which op that is left what a PyLayer's backward made is drawn."""
        inner = self._record.inner_grad_nodes
        stays = self.kept.stays[inner["grad_node"]] & (self._part[inner["grad_node"]] < 0)
        node = self.kept.of(inner["grad_node"])[stays]
        return Table({"grad_node": node, "op": self._ops.kept.of(inner["op"])[stays]})

    def rows(self, strings: StringPool, counts: Counts) -> Table:
        """Return the grad nodes that are left; one that stands for many says so by its name."""
        rows = self.kept.rows
        columns = {
            name: column[rows].copy() for name, column in self._record.grad_nodes.columns.items()
        }
        part = self._part[rows]
        changed = np.flatnonzero(part >= 0)
        columns["name"][changed] = [
            strings[say("reports.reduced.nodes_here", n=count)]
            for count in self._sums(counts.nodes)[part[changed]].tolist()
        ]
        columns["address"][changed] = 0
        columns["parameter"][changed] = -1
        columns["op"] = self._ops.kept.of(columns["op"])
        columns["op"][changed] = self._ops.kept.of(self._ops.first)[part[changed]]
        return Table(columns)

    def edge_rows(self) -> Table:
        """Return the edges between the grad nodes that are left."""
        return edges_anew(self._record.grad_edges, self._edge_rows, self.kept)

    def gradient_rows(self) -> tuple[Table, Table]:
        """Return what was in the gradients that passed what is left."""
        stats, histograms = self._record.grad_stats, self._record.grad_histograms
        edge_stays = np.zeros(len(self._record.grad_edges) + 1, np.bool_)
        edge_stays[self._edge_rows] = True
        edges = Kept(edge_stays[:-1], np.arange(len(edge_stays) - 1))
        edge_stays[-1] = True
        kept = Kept(edge_stays[stats["grad_edge"]], np.arange(len(stats)))
        columns = {name: column[kept.rows] for name, column in stats.columns.items()}
        columns["grad_edge"] = edges.of(columns["grad_edge"])
        columns["grad_node"] = self.kept.of(columns["grad_node"])
        rows = np.flatnonzero(kept.stays[histograms["grad_stat"]])
        counted = {name: column[rows] for name, column in histograms.columns.items()}
        counted["grad_stat"] = kept.of(counted["grad_stat"])
        return Table(columns), Table(counted)

    def _kept_nodes(self) -> tuple[Kept, Keys]:
        """Return which grad nodes stay, and the part of those that do not."""
        edges = self._record.grad_edges
        op = paired_ops(self._record, self._record.inner_grad_nodes)
        part = np.append(self._parts.of_op, -1)[op].astype(np.int32)
        # A leaf, or what else no op has made, goes with all those that hand it gradients.
        largest, least = np.full(len(part), -1), np.full(len(part), len(self._ops.first))
        np.maximum.at(largest, edges["target"], part[edges["source"]])
        np.minimum.at(least, edges["target"], part[edges["source"]])
        goes_along = (op < 0) & (largest == least)
        part[goes_along] = largest[goes_along]
        first = np.full(len(self._ops.first), len(part))
        inside = part >= 0
        np.minimum.at(first, part[inside], np.flatnonzero(inside))
        stays = ~inside
        stays[first[first < len(part)]] = True
        image = np.where(inside, first[part], np.arange(len(part)))
        return Kept(stays, image), part

    def _sums(self, counts: Numbers) -> Numbers:
        sums = np.zeros(len(self._ops.first), np.int64)
        inside = self._part >= 0
        np.add.at(sums, self._part[inside], counts[inside])
        return sums
