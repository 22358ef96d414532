"""Adds the ops of compiled programs to a record, inside the first op that ran each program.

In the record of a trace, each run of a compiled program is a single op, ``run_program``. All counts
and checks use these ops. Only pictures use the record that this module returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.programs.packed import unpack
from paddle_lab.programs.program import Program
from paddle_lab.programs.record import Written, written
from paddle_lab.trace.record import Origin, Record
from paddle_lab.trace.schema import FRAME_KINDS, PROGRAM_KINDS, RECORD_TABLES, ROLES, SCOPE_KINDS
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.words import say

_TAKEN = (
    "tensors", "frames", "stacks", "sources", "layers", "scopes", "ops", "uses", "grad_nodes",
    "grad_edges", "program_lines",
)  # fmt: skip
_BLOCK, _LAYER = SCOPE_KINDS.index("block"), SCOPE_KINDS.index("layer")
_PADDLE = FRAME_KINDS.index("paddle")
_INPUT, _RESULT = ROLES.index("input"), ROLES.index("result")


def programs_of(record: Record) -> dict[int, Program]:
    """Return the compiled programs of a trace that could be read, by number."""
    table = record.program_texts
    texts = zip(table["program"].tolist(), table["text"].tolist(), strict=True)
    return {number: unpack(record.text(code)) for number, code in texts}


def with_program_ops(record: Record) -> Record:
    """Return a record that also has the ops of compiled programs, after its own ops."""
    if not len(record.program_texts):
        return record
    splice = _Splice(record)
    for number, program in programs_of(record).items():
        splice.add(number, program)
    return splice.record()


class _Splice:
    def __init__(self, record: Record) -> None:
        self._record = record
        texts = set(record.program_texts["text"].tolist())
        # The page does not need the texts of programs.
        kept = ["" if code in texts else text for code, text in enumerate(record.strings)]
        self._strings = StringPool(kept)
        self._columns: dict[str, dict[str, list[Any]]] = {
            name: {column: [cells] for column, cells in record.tables[name].columns.items()}
            for name in _TAKEN
        }
        self._length = {name: len(record.tables[name]) for name in _TAKEN}

    def add(self, number: int, program: Program) -> None:
        """Add a program to the first op that ran the program."""
        record, table = self._record, self._record.programs
        rows = np.flatnonzero(table["program"] == number)
        op = int(table["op"][rows[0]])
        by_executor = table["kind"][rows[0]] == PROGRAM_KINDS.index("executor")
        nodes = np.flatnonzero(record.grad_nodes["op"] == op)
        if not len(nodes):
            program.backward = None
        program.gradients = {}  # the trace has leaves for the parameters
        found = written(program, Origin(), has_backward_ops=bool(by_executor))
        name = f"{say('reports.programs.one', n=number + 1)} ×{len(rows)}"
        scope = self._add_scopes(op, name, len(table["op"][table["op"] == op]))
        self._add_tables(found.record, op, scope)
        self._join(found, op, int(nodes[0]) if len(nodes) else -1)
        self._add_lines(found.record, number, op)

    def record(self) -> Record:
        tables = dict(self._record.tables)
        for name, columns in self._columns.items():
            tables[name] = Table({key: np.concatenate(cells) for key, cells in columns.items()})
        for name, of, key in (
            ("program_ops", "ops", "op"),
            ("program_grad_nodes", "grad_nodes", "grad_node"),
        ):
            added = range(len(self._record.tables[of]), self._length[of])
            tables[name] = Table.from_sequences(RECORD_TABLES[name], {key: added})
        tables["program_texts"] = Table.empty(RECORD_TABLES["program_texts"])
        record = self._record
        return Record(tables, self._strings.to_list(), record.origin, record.grad_values)

    def _add_scopes(self, op: int, name: str, programs: int) -> int:
        """Add a group for a program. If an op ran several programs, add a group around them."""
        ops, scopes = self._record.ops, self._columns["scopes"]
        around = int(ops["scope"][op])
        if programs > 1:
            known = [
                at for at, own in enumerate(np.concatenate(scopes["op"]).tolist()) if own == op
            ]
            around = known[0] if known else self._scope("run_program", around, op)
            return self._scope(name, around, -1)
        return self._scope(name, around, op)

    def _scope(self, name: str, parent: int, op: int) -> int:
        cells = {"kind": _BLOCK, "name": self._strings[name], "parent": parent, "layer": -1}
        return self._row("scopes", **cells, op=op, backward_call=-1, thread=0)

    def _row(self, table: str, **cells: int) -> int:
        for name, column in self._columns[table].items():
            column.append(np.array([cells[name]], column[0].dtype))
        self._length[table] += 1
        return self._length[table] - 1

    def _add_tables(self, found: Record, op: int, scope: int) -> None:
        ops, first = self._record.ops, dict(self._length)
        codes = np.array(self._strings.codes(found.strings), np.int32)
        above = self._layer_path(op)
        known = {self._record.text(code) for code in self._record.sources["file"].tolist()}
        named = [found.text(code) not in known for code in found.sources["file"].tolist()]
        fresh = np.array(named, np.bool_)
        for name in _TAKEN:
            for column, kind in RECORD_TABLES[name].items():
                cells = found.tables[name][column]
                if kind == "str":
                    cells = codes[cells]
                elif kind.startswith("key:"):
                    start = first.get(kind.removeprefix("key:"), 0)
                    cells = np.where(cells >= 0, cells + start, cells)
                if (name, column) in (("ops", "scope"), ("scopes", "parent")):
                    cells = np.where(cells < 0, scope, cells)
                elif (name, column) in (("ops", "thread"), ("ops", "start_ns")):
                    cells = np.full_like(cells, ops[column][op])
                elif (name, column) == ("layers", "path") and above:
                    texts = [f"{above}.{self._strings.to_list()[code]}" for code in cells.tolist()]
                    cells = np.array(self._strings.codes(texts), np.int32)
                cells = cells[fresh] if name == "sources" else cells
                into = self._columns[name][column]
                into.append(cells.astype(into[0].dtype))
            self._length[name] += len(cells)

    def _add_lines(self, found: Record, number: int, op: int) -> None:
        """Add the lines of the program's ops, but not the lines that called the program."""
        record, frames = self._record, found.frames
        around, stacks = int(record.ops["stack"][op]), record.stacks
        callers = set()
        while around >= 0:
            frame = int(stacks["frame"][around])
            place = record.text(int(record.frames["file"][frame])), record.frames["line"][frame]
            callers.add(place)
            around = int(stacks["caller"][around])
        columns = (frames[name].tolist() for name in ("file", "line", "kind", "function"))
        places = {
            (found.text(file), line)
            for file, line, kind, function in zip(*columns, strict=True)
            # After a graph break, SOT gives the rest of a function a new name.
            if kind != _PADDLE and not found.text(function).startswith("#")
        }
        for file, line in sorted(places - callers):
            self._row("program_lines", program=number, file=self._strings[file], line=line)

    def _layer_path(self, op: int) -> str:
        scopes, at = self._record.scopes, int(self._record.ops["scope"][op])
        while at >= 0 and scopes["kind"][at] != _LAYER:
            at = int(scopes["parent"][at])
        layer = int(scopes["layer"][at]) if at >= 0 else -1
        return self._record.text(int(self._record.layers["path"][layer])) if layer >= 0 else ""

    def _join(self, found: Written, op: int, node: int) -> None:
        """Connect the inputs and outputs of a program with the ops of the cell."""
        record, sub = self._record, found.record
        start = self._length["tensors"] - len(sub.tensors)
        uses = record.uses
        given = uses["tensor"][(uses["op"] == op) & (uses["role"] == _INPUT)].tolist()
        kinds, names = record.tensors["kind"], record.tensors["name"]
        parameters = {record.text(int(names[at])): at for at in given if at >= 0}
        parameters.pop("", None)
        same = {
            row + start: parameters[name]
            for row, name in enumerate(map(sub.text, sub.tensors["name"].tolist()))
            if name in parameters and row not in found.inputs
        }
        data = [at for at in given if at >= 0 and not 1 <= kinds[at] <= 2]
        if len(data) == len(found.inputs):
            same |= {row + start: at for row, at in zip(found.inputs, data, strict=True)}
        tensor = self._columns["uses"]["tensor"]
        tensor[-1] = np.array([same.get(at, at) for at in tensor[-1].tolist()], tensor[0].dtype)
        for slot, row in enumerate(found.outputs):
            self._row(
                "uses", op=op, tensor=same.get(row + start, row + start), role=_RESULT, slot=slot
            )
        if node >= 0:
            first = self._length["grad_nodes"] - len(sub.grad_nodes)
            into = set(sub.grad_edges["target"].tolist())
            for at in sorted(set(range(len(sub.grad_nodes))) - into):
                empty = self._strings[""]
                cells = {"source": node, "target": at + first, "slot": 0}
                self._row("grad_edges", **cells, dtype=empty, shape=empty)
