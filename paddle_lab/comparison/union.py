"""The record of a comparison: the ops of trace b, and between them the ops only in trace a.

Everything else is trace b's. An op that is only in trace a comes with its outputs, its layer, its
calls and its lines. Its inputs are the matching tensors of trace b, where there are any. An op that
differs has the line of trace a as well. Grad nodes that are only in trace a come with their edges.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.comparison.align import occurrences
from paddle_lab.comparison.compared import DIFFERENT, EQUAL, ONLY_A, ONLY_B, Compared
from paddle_lab.comparison.edits import lines_of
from paddle_lab.trace.distinct import distinct, mixed
from paddle_lab.trace.floats import float_bits
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import RECORD_TABLES, SCOPE_KINDS
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.trace.trees import taken
from paddle_lab.words import say

_TURN = SCOPE_KINDS.index("turn")
_COPIED: Final = (
    "ops", "uses", "tensors", "stacks", "frames", "scopes", "layers", "turns", "loops",
    "grad_nodes", "grad_edges",
)  # fmt: skip

Keys = npt.NDArray[Any]


def union(found: Compared) -> Record:
    """Return the record that shows both traces, with the table ``compared``."""
    return _Union(found).record()


class _Union:
    def __init__(self, found: Compared) -> None:
        self._found = found
        self._a, self._b = found.a.record, found.b.record
        self._strings = StringPool(self._b.strings)
        self._codes = np.array(self._strings.codes(self._a.strings), np.int64)
        self._differing = np.flatnonzero(found.state == DIFFERENT)
        self._rows: dict[str, Keys] = {}
        """Rows of trace a's tables that are added to trace b's."""
        # For each row of trace a its row in the union, or -1; for the row -1 also -1.
        self._to = {name: np.full(len(self._a.tables[name]) + 1, -1) for name in _COPIED}

    def record(self) -> Record:
        self._copy_ops()
        tables = {name: self._table(name) for name in RECORD_TABLES}
        tables["ops"] = self._ops(tables["ops"])
        uses = tables["uses"]
        order = np.argsort(uses["op"], kind="stable")
        tables["uses"] = Table({name: column[order] for name, column in uses.columns.items()})
        tables["sources"] = self._sources(tables["sources"], tables["frames"])
        tables["compared"] = self._compared()
        tables["other_frames"] = self._other_frames()
        tables["compared_grad_nodes"] = self._compared_grad_nodes(tables["grad_nodes"])
        origin = replace(self._b.origin, checks=[], notices=[])
        return Record(tables, self._strings.to_list(), origin)

    def _copy_ops(self) -> None:
        a, found, to = self._a, self._found, self._to
        lone = np.flatnonzero(found.op_b < 0)
        ops = self._rows["ops"] = found.op_a[lone]
        to["ops"][ops] = lone
        self._match_scopes()
        self._match_tensors()
        self._copy("stacks", a.ops["stack"][ops], "caller")
        frames = a.stacks["frame"][self._rows["stacks"]]
        self._copy("frames", np.append(frames, self._shown_frames(self._differing)))
        nodes = self._copy_grad_nodes()
        of_scopes = np.append(a.ops["scope"][ops], a.grad_nodes["scope"][nodes])
        scopes = self._copy("scopes", of_scopes, "parent")
        self._copy("layers", a.scopes["layer"][scopes])
        is_copied = np.isin(a.turns["scope"], scopes[a.scopes["kind"][scopes] == _TURN])
        turns = self._copy("turns", np.flatnonzero(is_copied))
        self._copy("loops", a.turns["loop"][turns])
        uses = self._copy("uses", np.flatnonzero(to["ops"][a.uses["op"]] >= 0))
        self._copy("tensors", np.append(a.uses["tensor"][uses], a.grad_nodes["parameter"][nodes]))

    def _copy_grad_nodes(self) -> Keys:
        """Add trace a's grad nodes that match no grad node of trace b, with their edges."""
        a, found, to = self._a, self._found, self._to["grad_nodes"]
        tensors = self._to["tensors"]
        leaf = np.where(tensors < 0, -2 - np.arange(len(tensors)), tensors)
        own = np.arange(len(self._b.tensors))
        keys = _grad_node_keys(a, found.rows_of("a"), np.append(leaf[:-1], -1))
        others = _grad_node_keys(self._b, found.rows_of("b"), np.append(own, -1))
        _, one, two = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
        self._matched_nodes = two
        to[one] = two
        nodes = self._copy("grad_nodes", np.flatnonzero(_is_known(a)))
        ends = a.grad_edges["source"], a.grad_edges["target"]
        is_new = np.isin(ends[0], nodes) | np.isin(ends[1], nodes)
        is_new &= (to[ends[0]] >= 0) & (to[ends[1]] >= 0)
        self._copy("grad_edges", np.flatnonzero(is_new))
        return nodes

    def _copy(self, name: str, rows: Keys, parent: str = "") -> Keys:
        """Add rows of trace a, and the rows above them, that have no row in the union yet."""
        to, table = self._to[name], self._a.tables[name]
        is_new = np.zeros(len(to), bool)
        while len(rows):
            rows = rows[(rows >= 0) & ~is_new[rows] & (to[rows] < 0)]
            is_new[rows] = True
            rows = np.unique(table[parent][rows]) if parent else rows[:0]
        found = self._rows[name] = np.flatnonzero(is_new)
        to[found] = len(self._b.tables[name]) + np.arange(len(found))
        return found

    def _match_scopes(self) -> None:
        """Note which scopes of the two traces correspond: the scopes of matched ops."""
        a, b, found, to = self._a, self._b, self._found, self._to["scopes"]
        rows = (found.op_a >= 0) & (found.op_b >= 0)
        one, two = a.ops["scope"][found.op_a[rows]], b.ops["scope"][found.op_b[rows]]
        while len(one):
            is_pair = (one >= 0) & (two >= 0) & (to[one] < 0)
            one, two = one[is_pair], two[is_pair]
            first, _ = distinct(one)
            one, two = one[first], two[first]
            is_alike = a.scopes["kind"][one] == b.scopes["kind"][two]
            one, two = one[is_alike], two[is_alike]
            to[one] = two
            one, two = a.scopes["parent"][one], b.scopes["parent"][two]

    def _match_tensors(self) -> None:
        """Note which tensors of the two traces correspond: outputs and inputs of matched ops."""
        a, b, found, to = self._found.a, self._found.b, self._found, self._to["tensors"]
        rows = (found.op_a >= 0) & (found.op_b >= 0)
        partner = np.full(len(a) + 1, -1)
        partner[found.op_a[rows]] = found.op_b[rows]
        for role in ("input", "output"):
            op, place, one = a.places(role)
            other_op, _, two = b.places(role)
            known = np.flatnonzero(partner[op] >= 0)[::-1]  # the first op is written last
            wanted = partner[op[known]]
            at = np.searchsorted(other_op, wanted) + place[known]
            is_there = np.append(other_op, -1)[np.minimum(at, len(other_op))] == wanted
            to[one[known[is_there]]] = two[at[is_there]]
        to[np.flatnonzero(self._to["ops"][a.record.tensors["producer"]] >= 0)] = -1
        to[-1] = -1

    def _ops(self, table: Table) -> Table:
        """Return the ops in the order of the union. In the table those of trace a are last."""
        order = np.where(self._found.op_b >= 0, self._found.op_b, 0)
        lone = np.flatnonzero(self._found.op_b < 0)
        order[lone] = len(self._b.ops) + np.arange(len(lone))
        return Table({name: column[order] for name, column in table.columns.items()})

    def _table(self, name: str) -> Table:
        """Return trace b's table with the keys of ops in the union, and the added rows."""
        there = np.flatnonzero(self._found.op_b >= 0)
        added = self._rows.get(name, np.zeros(0, np.int64))
        columns = {}
        for column, kind in RECORD_TABLES[name].items():
            own, other = self._b.tables[name][column], self._a.tables[name][column][added]
            if kind == "key:ops":
                own = np.append(there, -1)[own]
            elif column == "ops_before":
                # -1 for ops that the trace did not keep
                own = np.append(there, [len(self._found.op_b), -1])[own]
            if kind == "str":
                other = self._codes[other]
            elif kind.startswith("key:"):
                to = self._to.get(kind.removeprefix("key:"))
                is_value = name == "tensors" and column != "producer"
                other = np.full(len(other), -1) if to is None or is_value else to[other]
            dtype = self._b.tables[name][column].dtype
            columns[column] = np.concatenate((own, other)).astype(dtype)
        return Table(columns)

    def _sources(self, sources: Table, frames: Table) -> Table:
        """Return the sources of both traces. A file that was edited between them is there twice."""
        codes, cells = frames["file"], frames["cell"]
        added = np.arange(len(self._b.frames), len(frames))
        rows: dict[str, list[int]] = {name: [] for name in sources.columns}
        first, _ = distinct(codes[added], cells[added])
        for file, cell in [(int(codes[key]), int(cells[key])) for key in added[first].tolist()]:
            key = self._a.frames["file"][self._rows["frames"]][codes[added] == file][0]
            lines, others = dict(lines_of(self._a, (int(key), cell))), {}
            if file < len(self._b.strings):
                others = dict(lines_of(self._b, (file, cell)))
            code = file
            if any(others.get(number, text) != text for number, text in lines.items()):
                code = self._strings[say("comparison.file_of_a", file=self._b.text(file))]
                codes[added[(codes[added] == file) & (cells[added] == cell)]] = code
                others = {}
            for number, text in lines.items():
                if number not in others:
                    for name, value in zip(rows, (code, number, self._strings[text], cell),
                                           strict=True):  # fmt: skip
                        rows[name].append(value)
        return sources.appended(**rows) if rows["file"] else sources

    def _compared(self) -> Table:
        found = self._found
        count = len(found.op_b)
        errors = {name: np.full(count, np.nan) for name in ("max_abs", "max_rel", "cosine")}
        ulp = np.full(count, -1, np.int64)
        for row, known in found.errors.items():
            for name, column in errors.items():
                column[row] = getattr(known, name)
            ulp[row] = known.ulp
        columns: dict[str, Any] = {
            "op": np.arange(count),
            "state": found.state,
            "origin": found.origin,
            **{name: float_bits(column.tolist()) for name, column in errors.items()},
            "ulp": ulp,
            "other": self._others(),
            "reason": self._strings.codes(found.reason),
        }
        return Table.from_sequences(RECORD_TABLES["compared"], columns)

    def _shown_frames(self, rows: Keys) -> Keys:
        """Return the frame of trace a's op in some rows, -1 for none."""
        return taken(self._a.stack_frames["frame"],
                     taken(self._a.ops["stack"], self._found.op_a[rows]))  # fmt: skip

    def _others(self) -> Keys:
        """Return the codes of texts about trace a's ops: the name and the line."""
        op = self._found.op_a
        frame = self._shown_frames(np.arange(len(op)))
        first, number = distinct(frame, taken(self._a.ops["name"], op))
        texts = []
        for one, row in zip(op[first].tolist(), frame[first].tolist(), strict=True):
            at = Frame(self._a, row) if row >= 0 else None
            place = (f"{at.where}: {at.text}" if at.text else at.where) if at else ""
            name = self._a.text(int(self._a.ops["name"][one])) if one >= 0 else ""
            texts.append(" · ".join(filter(None, (name, place))))
        return np.array(self._strings.codes(texts), np.int64)[number]

    def _compared_grad_nodes(self, nodes: Table) -> Table:
        """Return the state of each grad node, from the gradients that it passes on.

        A leaf passes on none, so its state comes from the gradients that it gets.
        """
        b, gradients = self._b, self._found.gradients
        state = np.full(len(nodes), -1)
        if gradients is not None:
            stats = np.stack((gradients.b, gradients.state))[:, gradients.b >= 0]
            source = b.grad_stats["grad_node"][stats[0]]
            target = taken(b.grad_edges["target"], b.grad_stats["grad_edge"][stats[0]])
            is_leaf = (target >= 0) & (taken(nodes["op"], target) < 0)
            differs = np.where(stats[1] == EQUAL, EQUAL, DIFFERENT)
            np.maximum.at(state, source, differs)
            np.maximum.at(state, target[is_leaf], differs[is_leaf])
        only_b = np.flatnonzero(_is_known(b))
        state[np.setdiff1d(only_b, self._matched_nodes)] = ONLY_B
        state[len(b.grad_nodes) :] = ONLY_A
        known = np.flatnonzero(state >= 0)
        columns: dict[str, Any] = {"grad_node": known, "state": state[known]}
        return Table.from_sequences(RECORD_TABLES["compared_grad_nodes"], columns)

    def _other_frames(self) -> Table:
        frames = self._to["frames"][self._shown_frames(self._differing)]
        is_known = frames >= 0
        columns: dict[str, Any] = {"op": self._differing[is_known], "frame": frames[is_known]}
        return Table.from_sequences(RECORD_TABLES["other_frames"], columns)


def _is_known(record: Record) -> npt.NDArray[np.bool_]:
    """Tell of each grad node whether its op is recorded, or the tensor whose leaf it is."""
    known: npt.NDArray[np.bool_] = (record.grad_nodes["op"] >= 0) | (
        record.grad_nodes["parameter"] >= 0
    )
    return known


def _grad_node_keys(record: Record, rows: Keys, tensors: Keys) -> Keys:
    """Return a key for each grad node, from the row of its op, or its leaf, and the count."""
    nodes = record.grad_nodes
    key = mixed(taken(rows, nodes["op"]), tensors[nodes["parameter"]])
    return mixed(key, occurrences(key))
