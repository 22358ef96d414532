"""Builds the record from a recorder's rows, once the trace has ended."""

from __future__ import annotations

import os
from operator import itemgetter
from types import FrameType
from typing import Any

import numpy as np

from paddle_lab.capture.evidence.tensor_holders import add_tensor_holders
from paddle_lab.capture.kernels.assembly import add_kernels
from paddle_lab.capture.kernels.capture import KernelCapture
from paddle_lab.capture.log.assembly import add_log
from paddle_lab.capture.log.capture import LogCapture
from paddle_lab.capture.memory.assembly import add_memory
from paddle_lab.capture.memory.capture import MemoryCapture
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.recorder.tensors import EXTERNAL, GRADIENT, PARAMETER
from paddle_lab.capture.rows.cells import EDGE_CELLS, NODE_CELLS, SCOPE_CELLS, TENSOR_CELLS
from paddle_lab.capture.rows.tape import cells_of, sorted_rows
from paddle_lab.capture.stacks.frames import FrameAssembler
from paddle_lab.capture.stacks.source_texts import Cells
from paddle_lab.capture.tables.grad_columns import grad_tables
from paddle_lab.capture.tables.op_columns import OWN_STEP_NS, OpRows, op_tables
from paddle_lab.capture.tables.optimizer_ops import optimizer_reads
from paddle_lab.capture.tables.row_keys import RecordKeys, RowKeys, text_codes
from paddle_lab.capture.tables.tensor_columns import tensor_table
from paddle_lab.capture.turns.tables import turn_tables
from paddle_lab.trace.record import Origin, Record
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table, TableBuilder
from paddle_lab.words import say


def assemble(
    recorder: Recorder,
    paddle: Any,
    origin: Origin,
    cells: Cells,
    memory: MemoryCapture | None = None,
    kernels: KernelCapture | None = None,
    log: LogCapture | None = None,
    caller: FrameType | None = None,
) -> Record:
    """Build the record of a trace that has ended.

    Parameters
    ----------
    caller
        The call that ended the trace. Its variables may hold tensors.
    """
    strings = StringPool()
    frames = FrameAssembler(
        recorder.stacks,
        strings,
        paddle_folder=os.path.dirname(os.path.abspath(paddle.__file__)),
        cells=cells,
    )
    ops, tensor_rows = OpRows(recorder.ops), sorted_rows(recorder.tensors.rows, TENSOR_CELLS)
    keys = _keys(recorder, ops, tensor_rows)
    tables: dict[str, Table] = {}
    builders = {name: TableBuilder(schema) for name, schema in RECORD_TABLES.items()}
    tables.update(op_tables(recorder, ops, keys, strings, frames))
    tables["tensors"] = tensor_table(recorder, tensor_rows, keys, strings)
    tables["layers"] = _layers(recorder, strings, frames)
    tables["scopes"] = _scopes(recorder, keys, strings)
    tables["loops"], tables["turns"] = turn_tables(recorder, keys, strings, cells)
    tables.update(_backward_calls(recorder, strings, frames, keys))
    tables.update(grad_tables(recorder, ops, tables["tensors"], keys, strings))
    _add_evidence(recorder, builders, strings, frames, keys)
    holders = builders["tensor_holders"]
    recorder.attempt(add_tensor_holders, recorder, holders, strings, tables, keys, caller)
    recorder.programs.add_rows(builders["programs"], strings, keys)
    recorder.programs.add_lines(builders["program_lines"], strings)
    origin.notices += recorder.programs.add_texts(builders["program_texts"], strings, cells)
    if memory is not None:
        memory.name_rows(keys, frames.stack)
    tables.update(frames.tables())
    for name, builder in builders.items():
        if name not in tables:
            tables[name] = builder.build()
    tables = {name: tables[name] for name in RECORD_TABLES}
    _resolve_gradient_kinds(tables, strings.to_list())
    record = Record(tables, strings.to_list(), origin, recorder.grad_values, recorder.kept_values)
    if memory is not None:
        try:
            add_memory(record, memory, keys)
        except Exception as fault:  # noqa: BLE001  (the ops are there all the same)
            said = say("notices.fault.allocations_lost", fault=described(fault))
            record.origin.notices.append(said)
    if kernels is not None:
        try:
            add_kernels(record, kernels, keys)
        except Exception as fault:  # noqa: BLE001
            said = say("notices.fault.kernels_lost", fault=described(fault))
            record.origin.notices.append(said)
    if log is not None and log.text:
        try:
            add_log(record, log, recorder)
        except Exception as fault:  # noqa: BLE001
            record.origin.notices.append(say("notices.fault.log_lost", fault=described(fault)))
    return record


def _add_evidence(
    recorder: Recorder,
    builders: dict[str, TableBuilder],
    strings: StringPool,
    frames: FrameAssembler,
    keys: RecordKeys,
) -> None:
    """Fill the tables that checks read."""
    recorder.events.add_rows(builders["events"], strings, frames, keys)
    for name, found in (
        ("living_tensors", keys.tensors.rows(recorder.tensors.living_keys())),
        ("eval_scopes", keys.scopes.rows(cells_of(recorder.eval_scopes))),
    ):
        builders[name].append_cells(found[found >= 0].tolist())
    recorder.tensor_lives.add_rows(builders["tensor_lives"], keys)
    recorder.optimizers.add_rows(builders, strings, keys)
    recorder.step_looks.add_rows(builders, strings, keys)
    for collector in recorder.collectors:
        collector.add_rows(builders, strings, keys)


def _keys(recorder: Recorder, ops: OpRows, tensor_rows: Any) -> RecordKeys:
    pool = recorder.backward.grad_nodes
    return RecordKeys(
        ops=RowKeys(ops.keys),
        tensors=RowKeys(tensor_rows[:, 0]),
        scopes=RowKeys(sorted_rows(recorder.scopes, SCOPE_CELLS)[:, 0]),
        grad_nodes=RowKeys(sorted_rows(pool.rows, NODE_CELLS)[:, 0]),
        grad_edges=RowKeys(sorted_rows(pool.edges, EDGE_CELLS)[:, 0]),
        backward_calls=RowKeys(np.array(sorted(row[0] for row in recorder.backward_calls))),
    )


def _layers(recorder: Recorder, strings: StringPool, frames: FrameAssembler) -> Table:
    rows = sorted(recorder.layers.rows, key=itemgetter(0))
    calls = {row[0]: row[4] for row in rows if row[4] is not None}
    callees = dict(zip(calls, frames.callees(list(calls.values())), strict=True))
    columns: dict[str, Any] = {
        "path": strings.codes(
            path if path is not None else callees.get(key) or class_name
            for key, path, class_name, _, _ in rows
        ),
        "class": strings.codes(row[2] for row in rows),
        "parent": [row[3] for row in rows],
    }
    return Table.from_sequences(RECORD_TABLES["layers"], columns)


def _scopes(recorder: Recorder, keys: RecordKeys, strings: StringPool) -> Table:
    _, kind, name, parent, layer, backward_call, thread = sorted_rows(
        recorder.scopes, SCOPE_CELLS
    ).T
    calls = recorder.pylayers
    names = {key: name for name, key in recorder.scope_names.items()}
    # A PyLayer's forward and backward belong to the same op.
    own = calls.ops | {scope: calls.ops.get(of, -1) for scope, of in calls.forward_of.items()}
    columns: dict[str, Any] = {
        "kind": kind,
        "name": text_codes(name, names.__getitem__, strings),
        "parent": keys.scopes.rows(parent),
        "layer": layer,
        "op": keys.scopes.column(own, keys.ops),
        "backward_call": keys.backward_calls.rows(backward_call),
        "thread": thread,
    }
    return Table.from_sequences(RECORD_TABLES["scopes"], columns)


def _backward_calls(
    recorder: Recorder, strings: StringPool, frames: FrameAssembler, keys: RecordKeys
) -> dict[str, Table]:
    rows = sorted(recorder.backward_calls)
    numbers = np.array([row[:-1] for row in rows], np.int64).reshape(-1, 11)
    _, kind, stack, scope, op_count, create_graph, retain_graph, *ran_in = numbers.T
    thread, start, end, own = ran_in
    columns: dict[str, Any] = {
        "kind": kind,
        "stack": frames.stacks(stack),
        "scope": keys.scopes.rows(scope),
        "ops_before": keys.ops.counts_before(op_count),
        "create_graph": create_graph,
        "retain_graph": retain_graph,
        "error": strings.codes(row[-1] for row in rows),
    }
    ran = np.flatnonzero(end)
    times: dict[str, Any] = {
        "backward_call": ran,
        "thread": thread[ran],
        "start_ns": start[ran] - recorder.start_ns,
        "duration_ns": end[ran] - start[ran],
        "own_ns": own[ran] // OWN_STEP_NS * OWN_STEP_NS,
    }
    return {
        name: Table.from_sequences(RECORD_TABLES[name], cells)
        for name, cells in (("backward_calls", columns), ("backward_times", times))
    }


def _resolve_gradient_kinds(tables: dict[str, Table], strings: list[str]) -> None:
    """Mark a tensor as a gradient if an optimizer reads it as a gradient and no op made it."""
    kinds = tables["tensors"]["kind"]
    parameter, gradient = optimizer_reads(tables, strings).pairs()
    is_plain = (kinds[parameter] == PARAMETER) & (kinds[gradient] == EXTERNAL)
    kinds[gradient[is_plain]] = GRADIENT
