"""The table ``tensors``, from the cells that were noted of each value of a tensor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paddle_lab.capture.recorder.dtypes import describe
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.recorder.tensors import EXTERNAL
from paddle_lab.capture.rows.tape import Cells
from paddle_lab.capture.tables.row_keys import RecordKeys, first_uses
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table


def tensor_table(recorder: Recorder, rows: Cells, keys: RecordKeys, strings: StringPool) -> Table:
    """Return the ``tensors`` table.

    Parameters
    ----------
    rows
        The recorder's rows of tensors by key, shape ``[tensors, TENSOR_CELLS]``.
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
    # In the order of the rows, as one reads them: the first one that says something names it.
    said = np.zeros((len(rows), 5), np.bool_)
    firsts = (name, dtype, np.where(is_known, shape, -1), np.where(is_known, place, -1))
    for at, column in enumerate(firsts):
        said[first_uses(column), at] = True
    said[~is_known, 2:4] = False
    said[:, 4] = has_path
    row, column = np.nonzero(said)
    shape_texts, place_names = list(map(shape_text, shapes)), list(map(_place_name, places))
    dtype_names = [describe(one)[0] for one in dtypes]
    cells = (
        (names, name),
        (dtype_names, dtype),
        (shape_texts, shape),
        (place_names, place),
    )
    said_texts = np.empty(len(row), object)
    for at, (texts, keys_of_rows) in enumerate(cells):
        said_texts[column == at] = [texts[key] for key in keys_of_rows[row[column == at]].tolist()]
    with_path = row[column == 4]
    known_as = zip(identity[with_path].tolist(), name[with_path].tolist(), strict=True)
    said_texts[column == 4] = [paths.get((one, names[key]), "") for one, key in known_as]
    codes = strings.codes(said_texts.tolist())
    told = np.array(codes, np.int64)
    targets = (name_codes, dtype_codes, shape_codes, place_codes)
    for at, (target, (_, keys_of_rows)) in enumerate(zip(targets, cells, strict=True)):
        target[keys_of_rows[row[column == at]]] = told[column == at]
    path_codes[row[column == 4]] = told[column == 4]
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
