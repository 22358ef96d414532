r"""The bytes of a record: one format for the file, the wire and the saved page.

Layout (little endian)::

    8 bytes   magic  93 50 44 4C 41 42 0D 0A   ("\x93PDLAB\r\n"; text mode would harm it)
    4 bytes   u32    format version
    rest             one zlib stream (its Adler-32 detects damage), which holds:
        4 bytes   u32    length of the header
        header    JSON, UTF-8: {"strings": […], "origin": {…}, "tables": {name: {"rows": n,
                  "columns": {name: {"dtype": "i2", "delta": true}}}}}
        columns          in the header's order, each padded to 8 bytes; a column has the lowest
                         bytes of all rows first, then their next bytes, and so on

A table without rows is left out; a reader treats a missing table as empty. A column is stored in
the narrowest signed integer that holds its values. A ``delta`` column stores differences to the
previous row, which compresses keys and clocks several times better. Bytes of equal significance are
stored together, which saves another third for a trace of 1,000 ops.
:mod:`paddle_lab.trace.unpack` and ``js/src/trace/unpack.ts`` read these bytes.

Arrow IPC was measured as the alternative (``benchmarks/format.py``): the same tables as Arrow
streams in one zlib stream take 1.3 to 1.7 times the bytes, 1.7 to 2.4 times as long to write, and
0.5 to 0.9 times as long to read (10 instead of 16 ms at 20,000 ops). It would add a library of
34 MB (arro3) or 165 MB (pyarrow), and 49 kB to a front end that every saved notebook carries.
"""

from __future__ import annotations

import dataclasses
import json
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import FORMAT_VERSION, UNSEEN_TABLES, VIEW_TABLES
from paddle_lab.trace.table import Table

MAGIC = b"\x93PDLAB\r\n"
ALIGNMENT_BYTES = 8
DTYPES = ("i1", "i2", "i4", "i8")
_LIMITS = [
    (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max), np.dtype("<" + dtype)) for dtype in DTYPES
]

_LARGE_BYTES = 1 << 20
"""Size before compression. A page shows a smaller payload immediately at any level."""


def pack_seen(record: Record) -> bytes:
    """Return a record's bytes for a page, without tables that no view reads."""
    unseen = {name: Table.empty(VIEW_TABLES[name]) for name in UNSEEN_TABLES}
    return pack(Record({**record.tables, **unseen}, record.strings, record.origin))


def pack(record: Record, *, level: int | None = None) -> bytes:
    """Return ``record`` as bytes, with every table that has rows.

    Parameters
    ----------
    record
        The record of a trace, with or without answer tables.
    level
        The level of zlib, from 1 (fast) to 9 (small). By default a large record is compressed fast.
        For a graph of 60,000 nodes, level 6 would save 10 % of the bytes, but take 26 ms more.
    """
    body: list[bytes] = []
    description: dict[str, Any] = {}
    for table_name, table in record.tables.items():
        if not len(table):
            continue
        columns: dict[str, Any] = {}
        for column_name, column in table.columns.items():
            stored, is_delta = _narrow(column)
            columns[column_name] = {"dtype": stored.dtype.str[1:], "delta": is_delta}
            raw = _planes(stored)
            body.append(raw + bytes(-len(raw) % ALIGNMENT_BYTES))
        description[table_name] = {"rows": len(table), "columns": columns}
    header = json.dumps(
        {
            "strings": record.strings,
            "origin": dataclasses.asdict(record.origin),
            "tables": description,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode("utf-8", "replace")
    header += b" " * (-(len(header) + 4) % ALIGNMENT_BYTES)
    payload = b"".join((struct.pack("<I", len(header)), header, *body))
    if level is None:
        level = 1 if len(payload) > _LARGE_BYTES else 6
    return MAGIC + struct.pack("<I", FORMAT_VERSION) + zlib.compress(payload, level)


def _planes(column: npt.NDArray[Any]) -> bytes:
    if column.itemsize == 1:
        return column.tobytes()
    # Copy the bytes position by position. A copy of the transposed array takes six times as long.
    rows = column.view(np.uint8).reshape(len(column), column.itemsize)
    planes = np.empty(rows.shape[::-1], np.uint8)
    for i, plane in enumerate(planes):
        plane[:] = rows[:, i]
    return planes.tobytes()


def _narrow(column: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], bool]:
    if not len(column):
        return column.astype(_LIMITS[0][2]), False
    values = column.astype(np.int64, copy=False)
    differences = np.diff(values, prepend=np.int64(0))
    plain, delta = _narrowest(values), _narrowest(differences)
    # If the sizes are equal, differences compress better, but only if the column never falls.
    if delta.itemsize < plain.itemsize or (
        delta.itemsize == plain.itemsize and len(values) > 1 and int(differences[1:].min()) >= 0
    ):
        return differences.astype(delta), True
    return values.astype(plain), False


def _narrowest(values: npt.NDArray[np.int64]) -> np.dtype[Any]:
    low, high = int(values.min()), int(values.max())
    for least, most, dtype in _LIMITS:
        if least <= low and high <= most:
            return dtype
    raise AssertionError("int64 holds every int64")
