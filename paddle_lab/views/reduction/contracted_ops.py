"""Ops put together: which are left, what they read and made, and the edges between them."""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.trees import Keys, common_ancestors, depths
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import TENSOR_KINDS
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.views.reduction.parts import Parts
from paddle_lab.views.reduction.stand_ins import Counts, Numbers
from paddle_lab.views.reduction.tidying import Flags, Kept, edges_anew, edges_left, first_of_equal
from paddle_lab.words import say

_OWN = (TENSOR_KINDS.index("parameter"), TENSOR_KINDS.index("buffer"))


class ContractedOps:
    """The ops of a record, one for each part and those that are in none.

    Parameters
    ----------
    record, parts
        As of :func:`paddle_lab.views.reduction.contraction.contracted`.
    """

    def __init__(self, record: Record, parts: Parts) -> None:
        self._record = record
        self._parts = parts
        part, count = parts.of_op, len(parts.group)
        first = np.full(count, len(part))
        inside = part >= 0
        np.minimum.at(first, part[inside], np.flatnonzero(inside))
        stays = ~inside
        stays[first] = True
        self.kept = Kept(stays, np.where(inside, first[part], np.arange(len(part))))
        self.first = first
        self._is_changed = inside

    def is_stand_in(self) -> Flags:
        """Tell which of the ops that are left stand for a part."""
        flags = np.zeros(len(self.kept.rows), np.bool_)
        flags[self.kept.of(self.first)] = True
        return flags

    def groups(self) -> Keys:
        """Return the group of each op that is left."""
        groups = self._record.op_groups["group"].copy()
        groups[self.first] = self._parts.group
        left: Keys = groups[self.kept.rows]
        return left

    def counts(self, counts: Numbers) -> Numbers:
        """Return for how many each op that is left stands, of how many each stood for before."""
        summed = counts.copy()
        summed[self.first] = self._sums(counts)
        return summed[self.kept.rows]

    def rows(self, strings: StringPool, counts: Counts) -> Table:
        """Return the ops that are left; one that stands for many says so by its name."""
        part, inside = self._parts.of_op, self._is_changed
        columns = {name: column.copy() for name, column in self._record.ops.columns.items()}
        for name in ("duration_ns", "raised"):
            sums = np.zeros(len(self.first), np.int64)
            np.add.at(sums, part[inside], columns[name][inside])
            columns[name][self.first] = sums if name == "duration_ns" else np.minimum(sums, 1)
        number = self._sums(counts.ops)
        columns["name"][self.first] = [
            strings[say("reports.reduced.ops_here", n=count)] for count in number.tolist()
        ]
        columns["attributes"][self.first] = strings[""]
        columns["stack"][self.first] = self._shared_stacks()
        columns["is_pylayer"][self.first] = 0
        return Table({name: column[self.kept.rows] for name, column in columns.items()})

    def use_rows(self) -> Table:
        """Return what ops read and made; of what stands for many, what crosses its border."""
        uses, tensors = self._record.uses, self._record.tensors
        op = self.kept.image[uses["op"]]
        crosses = np.append(self._crossing_tensors(), False)
        is_own = np.append(np.isin(tensors["kind"], _OWN), True)
        changed = self._is_changed[uses["op"]]
        tensor = uses["tensor"]
        kept = np.flatnonzero(~changed | (crosses[tensor] & ~is_own[tensor]))
        keys = np.stack([op[kept], tensor[kept], uses["role"][kept], uses["slot"][kept]], axis=1)
        keys[:, 3] = np.where(changed[kept], 0, keys[:, 3])
        kept = kept[first_of_equal(keys)]
        columns = {name: column[kept] for name, column in uses.columns.items()}
        return Table({**columns, "op": self.kept.of(columns["op"])})

    def edge_rows(self) -> Table:
        """Return the edges between the ops that are left."""
        edges = self._record.op_edges
        return edges_anew(edges, edges_left(edges, self.kept, self._is_changed), self.kept)

    def _shared_stacks(self) -> Keys:
        """Return, for each part, the stack below which all its ops were called, -1 for none."""
        callers = self._record.stacks["caller"]
        depth = depths(callers)
        part = self._parts.of_op[self._is_changed].astype(np.int64)
        pairs = np.unique(part << 32 | (self._record.ops["stack"][self._is_changed] + 1))
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

    def _crossing_tensors(self) -> Flags:
        """Tensors that more than one op of what is left has to do with."""
        uses, tensors = self._record.uses, self._record.tensors
        count = len(tensors)
        image = self.kept.image.astype(np.int64)
        largest, least = np.full(count, -1), np.full(count, len(image))
        for tensor, op in (
            (uses["tensor"], uses["op"]),
            (np.arange(count), tensors["producer"]),
        ):
            is_both = (tensor >= 0) & (op >= 0)
            np.maximum.at(largest, tensor[is_both], image[op[is_both]])
            np.minimum.at(least, tensor[is_both], image[op[is_both]])
        return largest > least

    def _sums(self, counts: Numbers) -> Numbers:
        sums = np.zeros(len(self.first), np.int64)
        np.add.at(sums, self._parts.of_op[self._is_changed], counts[self._is_changed])
        return sums
