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


def arrow_stream(columns: Mapping[str, Values], requested_schema: object | None = None) -> object:
    """Return a PyCapsule with one batch of rows, as ``__arrow_c_stream__`` must return it.

    Integers are int64, floats float64, texts utf8, and lists are lists of these. A list without a
    known value has the type null, which readers join with any other.

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
    is_unknown = values.is_unknown if isinstance(values, Partial) else None
    cells = values.values if isinstance(values, Partial) else values
    if cells.dtype.kind in "OU":
        return _texts(cells.tolist(), is_unknown)
    kind = _OF_KIND[cells.dtype.kind]
    if kind == "bool_":
        return _built(kind, len(cells), is_unknown, _bits(cells))
    return _built(kind, len(cells), is_unknown, np.ascontiguousarray(cells, np.dtype(kind)))


def _array_of_list(values: list[Any]) -> Any:
    is_none = np.fromiter((value is None for value in values), bool, len(values))
    is_unknown = is_none if is_none.any() else None
    known = next((value for value in values if value is not None), None)
    if known is None:
        return _built("null", len(values), None)
    if isinstance(known, (list, tuple)):
        lists = [value or [] for value in values]
        items = _array_of_list(list(chain.from_iterable(lists)))
        starts = np.fromiter(accumulate(map(len, lists), initial=0), np.int32)
        buffers = [_validity(is_unknown), starts]
        unknown_count = int(is_none.sum())
        kind = nanoarrow.list_(items.schema)
        return nanoarrow.c_array_from_buffers(
            kind, len(values), buffers, unknown_count, children=[items]
        )
    if isinstance(known, str):
        return _texts(values, is_unknown)
    filled = np.array([0 if value is None else value for value in values])
    return _array(filled if is_unknown is None else Partial(filled, is_unknown))


def _texts(texts: list[str | None], is_unknown: npt.NDArray[np.bool_] | None) -> Any:
    encoded = [(text or "").encode() for text in texts]
    ends = np.fromiter(accumulate(map(len, encoded), initial=0), np.int64, len(texts) + 1)
    if ends[-1] < np.iinfo(np.int32).max:
        return _built("string", len(texts), is_unknown, ends.astype(np.int32), b"".join(encoded))
    return _built("large_string", len(texts), is_unknown, ends, b"".join(encoded))


def _built(kind: str, count: int, is_unknown: npt.NDArray[np.bool_] | None, *buffers: Any) -> Any:
    unknown_count = 0 if is_unknown is None else int(is_unknown.sum())
    validity = [] if kind == "null" else [_validity(is_unknown)]
    return nanoarrow.c_array_from_buffers(
        getattr(nanoarrow, kind)(), count, [*validity, *buffers], unknown_count
    )


def _validity(is_unknown: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.uint8] | None:
    return None if is_unknown is None else _bits(~is_unknown)


def _bits(flags: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return np.packbits(flags.astype(bool), bitorder="little")
