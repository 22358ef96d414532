"""Builds the tables of the backward graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.rows.cells import EDGE_CELLS, NODE_CELLS, ROOT_CELLS, OpCell
from paddle_lab.capture.rows.op_names import OP_NAMES
from paddle_lab.capture.rows.tape import cells_of, sorted_rows
from paddle_lab.capture.tables.op_columns import OpRows
from paddle_lab.capture.tables.row_keys import RecordKeys, RowKeys, Rows, text_codes
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table

_PYLAYER = "GradNodePyLayer_"


def grad_tables(
    recorder: Recorder, ops: OpRows, tensors: Table, keys: RecordKeys, strings: StringPool
) -> dict[str, Table]:
    """Return the tables of grad nodes, edges, and the roots, targets and stops of backward calls.

    Parameters
    ----------
    ops, tensors
        The recorded ops and tensors.
    """
    pool = recorder.backward.grad_nodes
    _, name, address, op = sorted_rows(pool.rows, NODE_CELLS).T
    op_row = keys.ops.rows(op)
    op_row[_is_unseen_pylayers(name, op_row, ops)] = -1
    leaf = keys.grad_nodes.column(recorder.backward.leaf_tensors, keys.tensors)
    _, source, target, slot, tensor = sorted_rows(pool.edges, EDGE_CELLS).T
    source, target = keys.grad_nodes.rows(source), keys.grad_nodes.rows(target)
    carried = keys.tensors.rows(tensor)
    carried = np.where(carried >= 0, carried, np.append(leaf, -1)[target])
    roots = cells_of(pool.roots).reshape(-1, ROOT_CELLS)
    targets = cells_of(pool.targets).reshape(-1, ROOT_CELLS)
    stops = np.array(recorder.backward.stops, np.int64).reshape(-1, 2)
    columns: dict[str, dict[str, Any]] = {
        "grad_nodes": {
            "name": text_codes(name, OP_NAMES.name, strings),
            "address": address,
            "op": op_row,
            "parameter": leaf,
            "scope": np.append(keys.scopes.rows(ops.column(OpCell.SCOPE)), -1)[op_row],
        },
        "grad_edges": {
            "source": source,
            "target": target,
            "slot": slot,
            # Code 0 is the empty text. It is used for unknown tensors.
            "dtype": np.append(tensors["dtype"], 0)[carried],
            "shape": np.append(tensors["shape"], 0)[carried],
        },
        "grad_roots": _of_calls(keys, roots, "grad_node", keys.grad_nodes),
        "grad_targets": _of_calls(keys, targets, "grad_node", keys.grad_nodes, least=-1),
        "grad_stops": _of_calls(keys, stops, "tensor", keys.tensors),
    }
    return {name: Table.from_sequences(RECORD_TABLES[name], columns[name]) for name in columns}


def _of_calls(
    keys: RecordKeys, pairs: Rows, column: str, others: RowKeys, *, least: int = 0
) -> dict[str, Rows]:
    """Return the columns of a table of backward calls and other rows, from row ``least`` on."""
    call, other = keys.backward_calls.rows(pairs[:, 0]), others.rows(pairs[:, 1])
    is_kept = (call >= 0) & (other >= least)
    return {"backward_call": call[is_kept], column: other[is_kept]}


def _is_unseen_pylayers(name: Rows, op_row: Rows, ops: OpRows) -> npt.NDArray[np.bool_]:
    """Tell which grad nodes belong to PyLayers whose ``apply`` was not recorded.

    Code that stored ``apply`` before the trace (``swish = Swish.apply``) calls it without our
    hooks. Then the node is found from the next recorded op, which did not make it.
    """
    named = [name_ for name_ in np.unique(name) if OP_NAMES.name(int(name_)).startswith(_PYLAYER)]
    is_pylayer = np.append(ops.column(OpCell.IS_PYLAYER), False).astype(np.bool_)
    unseen: npt.NDArray[np.bool_] = np.isin(name, named) & ~is_pylayer[op_row]
    return unseen
