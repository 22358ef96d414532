"""The table ``tensors``, from the cells that were noted of each value of a tensor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paddle_lab.capture.dtypes import describe
from paddle_lab.capture.recorder import Recorder
from paddle_lab.capture.row_keys import RecordKeys, first_uses
from paddle_lab.capture.tape import Cells
from paddle_lab.capture.tensors import EXTERNAL
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table


def tensor_table(recorder: Recorder, rows: Cells, keys: RecordKeys, strings: StringPool) -> Table:
    """Return the ``tensors`` table.

    Parameters
    ----------
    rows
        The recorder's rows of tensors by key, shape ``[tensors, ROW_CELLS]``.
    """
    pool, paths = recorder.tensors, recorder.layers.tensor_paths
    (
        _, shape, dtype, place, stop_gradient, version, kind, producer, previous, detached_from,
        name, identity, _,
    ) = (np.ascontiguousarray(column) for column in rows.T)  # fmt: skip
    shapes, dtypes = list(pool.shapes), list(pool.dtypes)
    places, names = list(pool.places), list(pool.names)
    shape_codes, dtype_codes = np.zeros(len(shapes), np.int64), np.zeros(len(dtypes), np.int64)
    place_codes, name_codes = np.zeros(len(places), np.int64), np.zeros(len(names), np.int64)
    path_codes = np.zeros(len(rows), np.int64)
    has_path = (name > 0) & (kind != EXTERNAL)
    is_known = np.array([one is not None for one in dtypes], np.bool_)[dtype]
    told = first_uses(name, dtype, np.where(is_known, shape, -1), np.where(is_known, place, -1))
    # In the order of the rows, as one reads them: the first one that says something names it.
    wanted = np.union1d(np.asarray(told, np.int64), np.flatnonzero(has_path))
    cells = (column[wanted].tolist() for column in (name, dtype, shape, place, identity, has_path))
    for row, *keyed, tensor, is_held in zip(wanted.tolist(), *cells, strict=True):
        name_key, dtype_key, shape_key, place_key = keyed
        name_codes[name_key] = strings[names[name_key]]
        dtype_codes[dtype_key] = strings[describe(dtypes[dtype_key])[0]]
        if is_known[row]:
            shape_codes[shape_key] = strings[shape_text(shapes[shape_key])]
            place_codes[place_key] = strings[_place_name(places[place_key])]
        if is_held:
            path_codes[row] = strings[paths.get(tensor, "")]
    elements = np.array([math.prod(one) for one in shapes], np.int64)
    item_bytes = np.array([describe(one)[1] for one in dtypes], np.int64)
    columns: dict[str, Any] = {
        "name": name_codes[name],
        "dtype": dtype_codes[dtype],
        "shape": np.where(is_known, shape_codes[shape], 0),
        "place": np.where(is_known, place_codes[place], 0),
        "stop_gradient": stop_gradient,
        "bytes": np.where(is_known, elements[shape] * item_bytes[dtype], 0),
        "version": version,
        "kind": kind,
        "producer": keys.ops.rows(producer),
        "previous": keys.tensors.rows(previous),
        "detached_from": keys.tensors.rows(detached_from),
        "path": path_codes,
    }
    return Table.from_sequences(RECORD_TABLES["tensors"], columns)


def shape_text(shape: tuple[int, ...]) -> str:
    """Return ``"[4, 2, 3]"``."""
    return "[" + ", ".join(map(str, shape)) + "]"


def _place_name(place: Any) -> str:
    return "cpu" if place is None else str(place).removeprefix("Place(").removesuffix(")")
