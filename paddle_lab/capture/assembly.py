"""From what a recorder noted to the record's columns, once the trace is over."""

from __future__ import annotations

import math
import os
from bisect import bisect_left
from operator import itemgetter
from typing import Any

from paddle_lab.capture.attributes import attribute_text
from paddle_lab.capture.dtypes import describe
from paddle_lab.capture.evidence.assembly import add_evidence
from paddle_lab.capture.faults import described
from paddle_lab.capture.frames import Cells, FrameAssembler
from paddle_lab.capture.memory.assembly import add_memory
from paddle_lab.capture.memory.capture import MemoryCapture
from paddle_lab.capture.optimizer_ops import optimizer_inputs
from paddle_lab.capture.recorder import INPUT, OUTPUT, RESULT, Recorder
from paddle_lab.capture.tensors import EXTERNAL, GRADIENT, PARAMETER
from paddle_lab.trace.record import Origin, Record
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table, TableBuilder


def assemble(
    recorder: Recorder,
    paddle: Any,
    origin: Origin,
    cells: Cells,
    memory: MemoryCapture | None = None,
) -> Record:
    """Build the record of a trace that has ended."""
    strings = StringPool()
    frames = FrameAssembler(
        recorder.stacks,
        strings,
        paddle_folder=os.path.dirname(os.path.abspath(paddle.__file__)),
        cells=cells,
    )
    builders = {name: TableBuilder(schema) for name, schema in RECORD_TABLES.items()}
    op_keys = _add_ops(recorder, builders, strings, frames)
    _add_tensors(recorder, builders["tensors"], strings, op_keys)
    _add_layers_and_scopes(recorder, builders, strings, frames, op_keys)
    ops = [op for op in op_keys if op >= 0]
    _add_backward(recorder, builders, strings, frames, op_keys, ops)
    add_evidence(recorder, builders, strings, frames, op_keys, ops)
    if memory is not None:
        copies = [copy._replace(stack=frames.stack(copy.stack)) for copy in memory.copies]
    frames.add_sources()
    built = {"stacks": frames.stacks, "frames": frames.frames, "sources": frames.sources}
    tables = {name: {**builders, **built}[name].build() for name in RECORD_TABLES}
    _resolve_gradient_kinds(tables, strings.to_list())
    record = Record(tables, strings.to_list(), origin, recorder.grad_values)
    if memory is not None:
        try:
            add_memory(record, memory, recorder, copies)
        except Exception as fault:  # noqa: BLE001  (the ops are there all the same)
            record.origin.notices.append(
                f"The allocations were lost to a fault in paddle_lab ({described(fault)}). "
                "Please report it with the code that led to it."
            )
    return record


def _add_ops(
    recorder: Recorder,
    builders: dict[str, TableBuilder],
    strings: StringPool,
    frames: FrameAssembler,
) -> dict[int, int]:
    ops, uses = builders["ops"], builders["uses"]
    rows = sorted(recorder.each_op())
    # Keys were given when an op ended; some were given up when it failed to.
    op_keys = {cells[0]: key for key, (cells, _, _) in enumerate(rows)}
    op_keys[-1] = -1
    texts = _attribute_texts(recorder, strings)
    results: dict[int, list[int]] = {}
    for op, tensor in recorder.results:
        results.setdefault(op, []).append(tensor)
    for cells, inputs, outputs in rows:
        (
            op, _, _, name, scope, stack, thread, start_ns, duration_ns, phase, attributes,
            is_pylayer, raised,
        ) = cells  # fmt: skip
        key = ops.append(
            strings[name],
            scope,
            frames.stack(stack),
            thread,
            start_ns - recorder.start_ns,
            duration_ns,
            phase,
            texts[attributes],
            is_pylayer,
            raised,
        )
        for slot, tensor in zip(inputs[::2], inputs[1::2], strict=True):
            uses.append(key, tensor, INPUT, slot)
        for slot, tensor in enumerate(results.get(op, ())):
            uses.append(key, tensor, RESULT, slot)
        for slot, tensor in enumerate(outputs):
            uses.append(key, tensor, OUTPUT, slot)
    return op_keys


def _attribute_texts(recorder: Recorder, strings: StringPool) -> list[int]:
    """Return the string code of each key of the recorder's attributes."""
    texts = []
    for signature in recorder.attributes:
        # The second half are the types, which keep 1, 1.0 and True apart.
        is_text = isinstance(signature, str)
        text = signature if is_text else attribute_text(signature[: len(signature) // 2])
        texts.append(strings[text])
    return texts


def _add_tensors(
    recorder: Recorder, tensors: TableBuilder, strings: StringPool, op_keys: dict[int, int]
) -> None:
    paths = recorder.layers.tensor_paths
    for (
        _, shape, dtype, place, stop_gradient, version, kind, producer, previous, detached_from,
        name, identity, _,
    ) in recorder.tensors.each_row():  # fmt: skip
        dtype_name, item_bytes = describe(dtype)
        tensors.append(
            strings[name],
            strings[dtype_name],
            strings["[" + ", ".join(map(str, shape)) + "]"] if dtype is not None else 0,
            strings[_place_name(place) if dtype is not None else ""],
            stop_gradient,
            math.prod(shape) * item_bytes if dtype is not None else 0,
            version,
            kind,
            op_keys.get(producer, -1),
            previous,
            detached_from,
            strings[paths.get(identity, "") if kind != EXTERNAL else ""] if name else 0,
        )


def _place_name(place: Any) -> str:
    return "cpu" if place is None else str(place).removeprefix("Place(").removesuffix(")")


def _add_layers_and_scopes(
    recorder: Recorder,
    builders: dict[str, TableBuilder],
    strings: StringPool,
    frames: FrameAssembler,
    op_keys: dict[int, int],
) -> None:
    for _, path, class_name, parent, location in sorted(recorder.layers.rows, key=itemgetter(0)):
        callee = frames.callee(location) if location is not None else None
        name = path if path is not None else callee or class_name
        builders["layers"].append(strings[name], strings[class_name], parent)
    for scope, kind, name, parent, layer, backward_call, thread in recorder.each_scope():
        forward_scope = recorder.backward_of.get(scope, scope)
        op = op_keys.get(recorder.scope_ops.get(forward_scope, -1), -1)
        builders["scopes"].append(kind, strings[name], parent, layer, op, backward_call, thread)


def _add_backward(
    recorder: Recorder,
    builders: dict[str, TableBuilder],
    strings: StringPool,
    frames: FrameAssembler,
    op_keys: dict[int, int],
    ops: list[int],
) -> None:
    calls = sorted(recorder.backward_calls)
    call_keys = {row[0]: key for key, row in enumerate(calls)}
    for _, kind, stack, scope, op_count, create_graph, error in calls:
        ops_before = bisect_left(ops, op_count)
        builders["backward_calls"].append(
            kind, frames.stack(stack), scope, ops_before, create_graph, strings[error]
        )
    pool = recorder.backward.grad_nodes
    recorder.backward.name_dead_leaves()
    scope_of_op = {cells[0]: cells[4] for cells, _, _ in recorder.each_op()}
    for key, name, address, op in pool.rows:
        leaf = recorder.backward.leaf_tensors.get(key, -1)
        builders["grad_nodes"].append(
            strings[name], address, op_keys.get(op, -1), leaf, scope_of_op.get(op, -1)
        )
    tensors = builders["tensors"]
    for source, target, slot, tensor in pool.edges:
        carried = tensor if tensor >= 0 else recorder.backward.leaf_tensors.get(target, -1)
        dtype = tensors.get(carried, "dtype") if carried >= 0 else 0
        shape = tensors.get(carried, "shape") if carried >= 0 else 0
        builders["grad_edges"].append(source, target, slot, dtype, shape)
    for call, node in pool.roots:
        if call in call_keys:
            builders["grad_roots"].append(call_keys[call], node)


def _resolve_gradient_kinds(tables: dict[str, Table], strings: list[str]) -> None:
    """Tell gradients among the tensors that no op was seen to make: what optimizers read."""
    kinds = tables["tensors"]["kind"]
    for parameters, gradients, _ in optimizer_inputs(tables, strings):
        for parameter, gradient in zip(parameters, gradients, strict=False):
            if kinds[parameter] == PARAMETER and kinds[gradient] == EXTERNAL:
                kinds[gradient] = GRADIENT
