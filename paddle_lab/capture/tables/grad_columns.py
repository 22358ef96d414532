"""The tables of the backward graphs, from what was noted of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.rows.cells import EDGE_CELLS, NODE_CELLS, ROOT_CELLS, OpCell
from paddle_lab.capture.rows.op_names import OP_NAMES
from paddle_lab.capture.rows.tape import cells_of, sorted_rows
from paddle_lab.capture.tables.op_columns import OpRows
from paddle_lab.capture.tables.row_keys import RecordKeys, Rows, first_uses
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table

_PYLAYER = "GradNodePyLayer_"


def grad_tables(
    recorder: Recorder, ops: OpRows, tensors: Table, keys: RecordKeys, strings: StringPool
) -> dict[str, Table]:
    """Return the tables of grad nodes, of edges, and of what backward calls were asked for.

    Parameters
    ----------
    ops, tensors
        What the record tells of ops and tensors.
    """
    pool = recorder.backward.grad_nodes
    _, name, address, op = sorted_rows(pool.rows, NODE_CELLS).T
    name_codes = np.zeros(int(name.max(initial=-1)) + 1, np.int64)
    for row in first_uses(name):
        name_codes[name[row]] = strings[OP_NAMES.name(int(name[row]))]
    op_row = keys.ops.rows(op)
    op_row[_is_unseen_pylayers(name, op_row, ops)] = -1
    leaf = _leaf_tensors(recorder, keys)
    nodes = {
        "name": name_codes[name],
        "address": address,
        "op": op_row,
        "parameter": leaf,
        "scope": np.append(keys.scopes.rows(ops.column(OpCell.SCOPE)), -1)[op_row],
    }
    _, source, target, slot, tensor = sorted_rows(pool.edges, EDGE_CELLS).T
    source, target = keys.grad_nodes.rows(source), keys.grad_nodes.rows(target)
    carried = keys.tensors.rows(tensor)
    carried = np.where(carried >= 0, carried, np.append(leaf, -1)[target])
    edges = {
        "source": source,
        "target": target,
        "slot": slot,
        # Code 0 is the empty text, for what is not known.
        "dtype": np.append(tensors["dtype"], 0)[carried],
        "shape": np.append(tensors["shape"], 0)[carried],
    }
    call, node = cells_of(pool.roots).reshape(-1, ROOT_CELLS).T
    call, node = keys.backward_calls.rows(call), keys.grad_nodes.rows(node)
    is_kept = (call >= 0) & (node >= 0)
    roots = {"backward_call": call[is_kept], "grad_node": node[is_kept]}
    call, node = cells_of(pool.targets).reshape(-1, ROOT_CELLS).T
    call, node = keys.backward_calls.rows(call), keys.grad_nodes.rows(node)
    targets = {"backward_call": call[call >= 0], "grad_node": node[call >= 0]}
    call, tensor = np.array(recorder.backward.stops, np.int64).reshape(-1, 2).T
    call, tensor = keys.backward_calls.rows(call), keys.tensors.rows(tensor)
    is_kept = (call >= 0) & (tensor >= 0)
    stops = {"backward_call": call[is_kept], "tensor": tensor[is_kept]}
    columns: dict[str, dict[str, Any]] = {
        "grad_nodes": nodes,
        "grad_edges": edges,
        "grad_roots": roots,
        "grad_targets": targets,
        "grad_stops": stops,
    }
    return {name: Table.from_sequences(RECORD_TABLES[name], columns[name]) for name in columns}


def _is_unseen_pylayers(name: Rows, op_row: Rows, ops: OpRows) -> npt.NDArray[np.bool_]:
    """Return which grad nodes are those of PyLayers whose ``apply`` was not seen.

    Who binds it before the trace, as ``swish = Swish.apply``, calls past the hooks. A walk then
    finds its node from the next op that is seen, which did not make it.
    """
    named = [name_ for name_ in np.unique(name) if OP_NAMES.name(int(name_)).startswith(_PYLAYER)]
    is_pylayer = np.append(ops.column(OpCell.IS_PYLAYER), False).astype(np.bool_)
    unseen: npt.NDArray[np.bool_] = np.isin(name, named) & ~is_pylayer[op_row]
    return unseen


def _leaf_tensors(recorder: Recorder, keys: RecordKeys) -> Rows:
    """Return the row of the tensor that each accumulation node accumulates into, -1 for others."""
    leaves = recorder.backward.leaf_tensors
    found = np.full(len(keys.grad_nodes), -1, np.int64)
    node = keys.grad_nodes.rows(np.fromiter(leaves.keys(), np.int64, len(leaves)))
    tensor = keys.tensors.rows(np.fromiter(leaves.values(), np.int64, len(leaves)))
    found[node[node >= 0]] = tensor[node >= 0]
    return found
