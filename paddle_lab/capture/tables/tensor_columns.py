"""Builds the table ``tensors`` from the integers recorded for each value of a tensor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paddle_lab.capture.recorder.dtypes import describe
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.recorder.tensors import EXTERNAL
from paddle_lab.capture.rows.tape import Cells
from paddle_lab.capture.tables.row_keys import RecordKeys, text_codes
from paddle_lab.trace.distinct import distinct
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
    shapes, dtypes = list(pool.shapes), list(map(describe, pool.dtypes))
    places, names = list(pool.places), list(pool.names)
    is_known = np.array([one is not None for one in pool.dtypes], np.bool_)[dtype]
    elements = np.array([math.prod(one) for one in shapes], np.int64)
    item_bytes = np.array([size for _, size in dtypes], np.int64)
    path = np.zeros(len(rows), np.int64)
    has_path = np.flatnonzero((name > 0) & (kind != EXTERNAL))
    first, number = distinct(identity[has_path], name[has_path])
    known_as = zip(identity[has_path[first]].tolist(), name[has_path[first]].tolist(), strict=True)
    codes = strings.codes(paths.get((one, names[key]), "") for one, key in known_as)
    path[has_path] = np.array(codes, np.int64)[number]
    columns: dict[str, Any] = {
        "name": text_codes(name, names.__getitem__, strings),
        "dtype": text_codes(dtype, lambda key: dtypes[key][0], strings),
        "shape": text_codes(
            np.where(is_known, shape, -1), lambda key: shape_text(shapes[key]), strings
        ),
        "place": text_codes(
            np.where(is_known, place, -1), lambda key: _place_name(places[key]), strings
        ),
        "stop_gradient": stop_gradient,
        "bytes": np.where(is_known, elements[shape] * item_bytes[dtype], 0),
        "version": version,
        "kind": kind,
        "producer": keys.ops.rows(producer),
        "previous": keys.tensors.rows(previous),
        "detached_from": keys.tensors.rows(detached_from),
        "path": path,
    }
    return Table.from_sequences(RECORD_TABLES["tensors"], columns)


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape as text, such as ``"[4, 2, 3]"``."""
    return "[" + ", ".join(map(str, shape)) + "]"


def _place_name(place: Any) -> str:
    return "cpu" if place is None else str(place).removeprefix("Place(").removesuffix(")")
