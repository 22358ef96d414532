"""The bytes of a record: one format for the file, the wire and the saved page.

Layout (little endian)::

    8 bytes   magic  93 50 44 4C 41 42 0D 0A   ("\\x93PDLAB\\r\\n"; the \\r\\n shows text-mode damage)
    4 bytes   u32    format version
    rest             one zlib stream (its Adler-32 tells cut or altered bytes), which holds:
        4 bytes   u32    length of the header
        header    JSON, UTF-8: {"strings": […], "origin": {…}, "tables": {name: {"rows": n,
                  "columns": {name: {"dtype": "i2", "delta": true}}}}}
        columns          in the header's order, each padded to 8 bytes

A column is stored in the narrowest signed integer that holds it; ``delta`` columns store the
difference to the row before, which compresses keys and clocks several times better. Reading
allocates what the header announces only after checking it against the bytes that are there, runs
no code, and checks every key and string code against its table.

Arrow IPC was measured as the alternative (``benchmarks/format.py``): it needs an 11–165 MB library on
one side and 45 kB of bundle on the other, and its files of small traces are larger.
"""

from __future__ import annotations

import dataclasses
import json
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.errors import TraceFileError
from paddle_lab.trace.record import Origin, Record
from paddle_lab.trace.schema import ENUMERATIONS, FORMAT_VERSION, RECORD_TABLES, Columns
from paddle_lab.trace.table import Table, storage_dtype

MAGIC = b"\x93PDLAB\r\n"
_ALIGNMENT_BYTES = 8
_DTYPES = ("i1", "i2", "i4", "i8")
_LARGEST_PAYLOAD_BYTES = 4 << 30
_DAMAGED = "this trace file is cut short or altered; save the trace again or copy the file anew"


def pack(record: Record, extra_tables: dict[str, Table] | None = None, level: int = 6) -> bytes:
    """Return ``record`` as bytes.

    Parameters
    ----------
    record
        What to pack.
    extra_tables
        Answer tables to send along (:data:`~paddle_lab.trace.schema.ANSWER_TABLES`).
    level
        zlib's level, 1 (fast) to 9 (small).
    """
    tables = {**record.tables, **(extra_tables or {})}
    body: list[bytes] = []
    description: dict[str, Any] = {}
    for table_name, table in tables.items():
        columns: dict[str, Any] = {}
        for column_name, column in table.columns.items():
            stored, is_delta = _narrow(column)
            columns[column_name] = {"dtype": stored.dtype.str[1:], "delta": is_delta}
            raw = stored.tobytes()
            body.append(raw + bytes(-len(raw) % _ALIGNMENT_BYTES))
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
    header += b" " * (-(len(header) + 4) % _ALIGNMENT_BYTES)
    payload = b"".join((struct.pack("<I", len(header)), header, *body))
    return MAGIC + struct.pack("<I", FORMAT_VERSION) + zlib.compress(payload, level)


def unpack(data: bytes) -> Record:
    """Read a record from bytes; tables that the record's schema does not name are left out.

    Raises
    ------
    TraceFileError
        If the bytes are no trace, of a newer version, cut short, or altered.
    """
    if data[: len(MAGIC)] != MAGIC:
        raise TraceFileError("this is not a paddle_lab trace; open a file that trace.save() wrote")
    if len(data) < len(MAGIC) + 4:
        raise TraceFileError(_DAMAGED)
    (version,) = struct.unpack_from("<I", data, len(MAGIC))
    if version > FORMAT_VERSION:
        raise TraceFileError(
            f"this trace was saved in format {version}, newer than this paddle_lab reads "
            f"({FORMAT_VERSION}); update paddle_lab to open it"
        )
    payload = _decompress(data[len(MAGIC) + 4 :])
    try:
        header, offset = _read_header(payload)
        tables = _read_tables(header, payload, offset)
        strings = [str(text) for text in header["strings"]]
        origin = _read_origin(header["origin"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, struct.error) as error:
        raise TraceFileError(_DAMAGED) from error
    if not strings:
        raise TraceFileError(_DAMAGED)
    _check_references(tables, len(strings))
    return Record(tables, strings, origin)


def _narrow(column: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], bool]:
    values = column.astype(np.int64, copy=False)
    plain = _narrowest(values)
    if len(values) < 2:
        return plain, False
    delta = _narrowest(np.diff(values, prepend=0))
    # Equal widths: differences still compress better where a column mostly counts upwards.
    is_monotonic = bool((np.diff(values) >= 0).all())
    if delta.itemsize < plain.itemsize or (is_monotonic and delta.itemsize == plain.itemsize):
        return delta, True
    return plain, False


def _narrowest(values: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    if not len(values):
        return values.astype("<i1")
    low, high = int(values.min()), int(values.max())
    for dtype in _DTYPES:
        limits = np.iinfo(dtype)
        if limits.min <= low and high <= limits.max:
            return values.astype("<" + dtype)
    raise AssertionError("int64 holds every int64")


def _decompress(data: bytes) -> bytes:
    decompressor = zlib.decompressobj()
    try:
        payload = decompressor.decompress(data, _LARGEST_PAYLOAD_BYTES)
    except zlib.error as error:
        raise TraceFileError(_DAMAGED) from error
    if not decompressor.eof or decompressor.unused_data:
        raise TraceFileError(_DAMAGED)
    return payload


def _read_header(payload: bytes) -> tuple[dict[str, Any], int]:
    (length,) = struct.unpack_from("<I", payload)
    if 4 + length > len(payload):
        raise ValueError("header longer than the payload")
    header = json.loads(payload[4 : 4 + length])
    if not isinstance(header, dict):
        raise TypeError("header is no object")
    return header, 4 + length


def _read_tables(header: dict[str, Any], payload: bytes, offset: int) -> dict[str, Table]:
    tables: dict[str, Table] = {}
    for table_name, description in header["tables"].items():
        rows = int(description["rows"])
        columns: dict[str, npt.NDArray[Any]] = {}
        for column_name, stored in description["columns"].items():
            if stored["dtype"] not in _DTYPES or rows < 0:
                raise ValueError("unknown column type")
            values = np.frombuffer(payload, "<" + stored["dtype"], rows, offset).astype(np.int64)
            columns[column_name] = np.cumsum(values) if stored["delta"] else values
            size = rows * np.dtype(stored["dtype"]).itemsize
            offset += size + -size % _ALIGNMENT_BYTES
        tables[table_name] = Table(columns)
    return {name: _typed(tables[name], schema) for name, schema in RECORD_TABLES.items()}


def _typed(table: Table, schema: Columns) -> Table:
    columns: dict[str, npt.NDArray[Any]] = {}
    for name, column_type in schema.items():
        dtype = storage_dtype(column_type)
        limits = np.iinfo(dtype)
        values = table[name]
        if len(values) and (values.min() < limits.min or values.max() > limits.max):
            raise ValueError(f"{name} does not fit its type")
        columns[name] = values.astype(dtype)
    return Table(columns)


def _read_origin(values: dict[str, Any]) -> Origin:
    origin = Origin()
    for field in dataclasses.fields(Origin):
        value = values.get(field.name, getattr(origin, field.name))
        if not isinstance(value, type(getattr(origin, field.name))):
            raise TypeError(f"origin.{field.name} is of another type")
        setattr(origin, field.name, value)
    return origin


def _check_references(tables: dict[str, Table], string_count: int) -> None:
    for table_name, schema in RECORD_TABLES.items():
        for column_name, column_type in schema.items():
            kind, _, target = column_type.partition(":")
            lowest, end = 0, 0
            if kind == "str":
                end = string_count
            elif kind == "enum":
                end = len(ENUMERATIONS[target])
            elif kind == "key":
                lowest, end = -1, len(tables[target])
            else:
                continue
            column = tables[table_name][column_name]
            if len(column) and (column.min() < lowest or column.max() >= end):
                raise TraceFileError(_DAMAGED)
