"""Columns as a stream of the Arrow C data interface."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, chain
from typing import Any

import nanoarrow
import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.tables.columns import Partial, Values

_OF_KIND = {"i": "int64", "u": "int64", "f": "float64", "b": "bool_", "O": "string", "U": "string"}
"""NumPy's kinds of arrays, and nanoarrow's types."""
_OF_TYPE = {str: "string", float: "float64", int: "int64", bool: "bool_"}
"""The types of a list's values. Floats come first: a list of floats may also have integers."""


def arrow_stream(columns: Mapping[str, Values], requested_schema: object | None = None) -> object:
    """Return a PyCapsule with one batch of rows, as ``__arrow_c_stream__`` must return it.

    Integers are int64, floats float64, texts utf8, and lists are lists of these. A list without
    known values has the type null, which readers can combine with any type.

    Parameters
    ----------
    columns
        The columns by name.
    requested_schema
        A capsule with the schema that the reader would like.
    """
    arrays = [_array(values) for values in columns.values()]
    schema = nanoarrow.struct(
        {name: array.schema for name, array in zip(columns, arrays, strict=True)}
    )
    count = len(next(iter(columns.values()), ()))
    batch = nanoarrow.c_array_from_buffers(schema, count, [None], 0, children=arrays)
    return nanoarrow.c_array_stream(batch).__arrow_c_stream__(requested_schema)


def _array(values: Values) -> Any:
    """Return a column as an Arrow array."""
    if isinstance(values, list):
        return _array_of_list(values)
    partial = values if isinstance(values, Partial) else None
    cells = values.values if isinstance(values, Partial) else values
    kind = _OF_KIND[cells.dtype.kind]
    if kind == "string":
        return nanoarrow.c_array(values.tolist(), nanoarrow.string())
    is_known = None if partial is None else _bits(~partial.is_unknown)
    buffer = _bits(cells) if kind == "bool_" else np.ascontiguousarray(cells, np.dtype(kind))
    unknown_count = 0 if partial is None else int(partial.is_unknown.sum())
    return nanoarrow.c_array_from_buffers(
        getattr(nanoarrow, kind)(), len(cells), [is_known, buffer], unknown_count
    )


def _array_of_list(values: list[Any]) -> Any:
    known = next((value for value in values if value is not None), None)
    if known is None:
        return nanoarrow.c_array_from_buffers(nanoarrow.null(), len(values), [], len(values))
    if isinstance(known, (list, tuple)):
        lists = [value or [] for value in values]
        items = _array_of_list(list(chain.from_iterable(lists)))
        starts = np.fromiter(accumulate(map(len, lists), initial=0), np.int32)
        is_known = np.array([value is not None for value in values])
        return nanoarrow.c_array_from_buffers(
            nanoarrow.list_(items.schema),
            len(values),
            [_bits(is_known), starts],
            -1,
            children=[items],
        )
    kinds = {type(value) for value in values if value is not None}
    kind = next(kind for of, kind in _OF_TYPE.items() if of in kinds)
    return nanoarrow.c_array(values, getattr(nanoarrow, kind)())


def _bits(flags: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return np.packbits(flags.astype(bool), bitorder="little")
