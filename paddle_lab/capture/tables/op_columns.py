"""Builds the tables of ops from the integers that were recorded for each op."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from paddle_lab.capture.recorder.recorder import INPUT, OUTPUT, RESULT, Recorder
from paddle_lab.capture.rows.cells import OP_CELLS, OpCell
from paddle_lab.capture.rows.op_names import OP_NAMES
from paddle_lab.capture.rows.tape import Cells, Tape, cells_of, row_starts
from paddle_lab.capture.stacks.frames import FrameAssembler
from paddle_lab.capture.tables.attribute_columns import attribute_columns
from paddle_lab.capture.tables.op_signatures import signature_of
from paddle_lab.capture.tables.row_keys import RecordKeys, spread, text_codes
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table, TableBuilder

OWN_STEP_NS = 1024
"""Rounding the trace's own time to this saves two thirds of its bytes; errors do not add up."""


class OpRows:
    """The ops recorded so far, sorted by key: the rows of a tape of :class:`OpCell`."""

    def __init__(self, ops: Tape) -> None:
        self.cells = cells_of(ops)
        starts = row_starts(ops, OP_CELLS) - ops.start
        self.starts = starts[starts < len(self.cells)]  # threads may have added ops in the meantime
        keys = self.cells[self.starts]
        # Ops are sorted by key already, unless several threads wrote them.
        if np.any(keys[1:] < keys[:-1]):
            self.starts = self.starts[np.argsort(keys, kind="stable")]

    def column(self, number: int) -> Cells:
        """Return a cell of all ops."""
        column: Cells = self.cells[self.starts + number]
        return column

    @cached_property
    def keys(self) -> Cells:
        """The ops' keys, ascending."""
        return self.column(OpCell.KEY)

    @cached_property
    def inputs(self) -> tuple[Cells, Cells, Cells]:
        """For all inputs, in the order of ops: the op's row, the argument position, the tensor."""
        counts = self.column(OpCell.INPUT_CELLS) // 2
        op, at = spread(counts)
        position = self.starts[op] + OP_CELLS + 2 * at
        return op, self.cells[position], self.cells[position + 1]

    @cached_property
    def outputs(self) -> tuple[Cells, Cells, Cells]:
        """For all outputs, in the order of ops: the op's row, the slot, the tensor."""
        op, at = spread(self.column(OpCell.OUTPUTS))
        position = self.starts[op] + OP_CELLS + self.column(OpCell.INPUT_CELLS)[op] + at
        return op, at, self.cells[position]


def op_tables(
    recorder: Recorder,
    rows: OpRows,
    keys: RecordKeys,
    strings: StringPool,
    frames: FrameAssembler,
) -> dict[str, Table]:
    """Return ``ops``, ``uses``, ``own_times``, ``attribute_defaults``, ``op_signatures``."""
    name, stack = rows.column(OpCell.NAME), rows.column(OpCell.STACK)
    # A PyLayer may have the same name as an op of Paddle.
    of_paddle = np.where(rows.column(OpCell.IS_PYLAYER), -1, name)
    attributes, defaults = attribute_columns(
        recorder.attributes, rows.column(OpCell.ATTRIBUTES), of_paddle, rows.inputs[:2], strings
    )
    ops: dict[str, Any] = {
        "name": text_codes(name, OP_NAMES.name, strings),
        "scope": keys.scopes.rows(rows.column(OpCell.SCOPE)),
        "stack": frames.stacks(stack),
        "thread": rows.column(OpCell.THREAD),
        "start_ns": rows.column(OpCell.START) - recorder.start_ns,
        "duration_ns": rows.column(OpCell.DURATION),
        "phase": rows.column(OpCell.PHASE),
        "attributes": attributes,
        "is_pylayer": rows.column(OpCell.IS_PYLAYER),
        "raised": rows.column(OpCell.RAISED),
    }
    return {
        "ops": Table.from_sequences(RECORD_TABLES["ops"], ops),
        "uses": _uses(recorder, rows, keys),
        "own_times": _own_times(recorder, rows),
        "attribute_defaults": defaults,
        "op_signatures": _signatures(np.unique(of_paddle), strings),
    }


def _signatures(names: Cells, strings: StringPool) -> Table:
    table = TableBuilder(RECORD_TABLES["op_signatures"])
    for name in sorted(OP_NAMES.name(key) for key in names.tolist() if key >= 0):
        if parameters := signature_of(name):
            told = "; ".join(f"{one.kind} {one.name}" for one in parameters)
            table.append(strings[name], strings[told])
    return table.build()


def _own_times(recorder: Recorder, rows: OpRows) -> Table:
    own_ns = np.append(rows.column(OpCell.OWN), recorder.thread().own_ns)
    columns: dict[str, Any] = {
        "op": np.append(np.arange(len(rows.keys)), -1),
        "own_ns": own_ns // OWN_STEP_NS * OWN_STEP_NS,
    }
    return Table.from_sequences(RECORD_TABLES["own_times"], columns)


def _uses(recorder: Recorder, rows: OpRows, keys: RecordKeys) -> Table:
    parts = [rows.inputs, _results(recorder, keys), rows.outputs]
    roles = np.repeat([INPUT, RESULT, OUTPUT], [len(part[0]) for part in parts])
    op, slot, tensor = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    # Sort by op. The sort is stable, so roles, inputs and outputs of an op stay in order.
    order = np.argsort(op, kind="stable")
    columns: dict[str, Any] = {
        "op": op[order],
        "tensor": keys.tensors.rows(tensor[order]),
        "role": roles[order],
        "slot": slot[order],
    }
    return Table.from_sequences(RECORD_TABLES["uses"], columns)


def _results(recorder: Recorder, keys: RecordKeys) -> tuple[Cells, Cells, Cells]:
    """Return the results of PyLayers that inner ops made, as row, slot and tensor."""
    noted = cells_of(recorder.pylayers.results).reshape(-1, 2)
    op, tensor = keys.ops.rows(noted[:, 0]), noted[:, 1]
    order = np.argsort(op, kind="stable")[np.count_nonzero(op < 0) :]
    op, tensor = op[order], tensor[order]
    slot = np.arange(len(op)) - np.searchsorted(op, op)
    return op, slot, tensor
