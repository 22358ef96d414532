"""Reads a record from untrusted bytes.

Reading runs no code and trusts nothing. The header must account for every byte. Sizes are checked
before memory is allocated. Every key and every position of a string is checked.
"""

from __future__ import annotations

import dataclasses
import json
import re
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.pack import ALIGNMENT_BYTES, DTYPES, MAGIC
from paddle_lab.trace.record import Origin, Record, TraceFileError
from paddle_lab.trace.schema import ENUMERATIONS, FORMAT_VERSION, RECORD_TABLES
from paddle_lab.trace.table import Table, storage_dtype
from paddle_lab.trace.trees import depths
from paddle_lab.words import say

_SMALL_PAYLOAD_BYTES = 64 << 20
_LARGEST_PAYLOAD_BYTES = 1 << 30
_LARGEST_HEADER_BYTES = 64 << 20
_MOST_HEADER_OBJECTS = 10_000
_JSON_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_LARGEST_RATIO = 200
"""zlib reaches 1000 on zeros; large real traces reach 10 to 40."""
_TREES = (
    ("scopes", "parent"),
    ("stacks", "caller"),
    ("layers", "parent"),
    ("tensors", "previous"),
    ("tensors", "detached_from"),
)


def unpack(data: bytes) -> Record:
    """Read a record from bytes. Tables that a record does not store are ignored.

    Raises
    ------
    TraceFileError
        If the bytes are not a trace, of another format, truncated, or altered.
    """
    if data[: len(MAGIC)] != MAGIC:
        raise TraceFileError(say("errors.file.no_trace"))
    if len(data) < len(MAGIC) + 4:
        raise TraceFileError(say("errors.file.damaged"))
    (version,) = struct.unpack_from("<I", data, len(MAGIC))
    if version != FORMAT_VERSION:
        raise TraceFileError(say("errors.file.other_format", version=version, known=FORMAT_VERSION))
    try:
        header, columns = _decompress(memoryview(data)[len(MAGIC) + 4 :])
        tables = _read_tables(header, columns)
        strings, origin = _read_texts(header)
        _check_references(tables, len(strings))
    except TraceFileError:
        raise
    except (
        KeyError,
        TypeError,
        ValueError,  # also raised for invalid UTF-8 and invalid JSON
        AttributeError,
        OverflowError,
        RecursionError,  # JSON that is nested too deeply
        struct.error,
        zlib.error,
    ) as error:
        raise TraceFileError(say("errors.file.damaged")) from error
    return Record(tables, strings, origin)


def _decompress(data: memoryview) -> tuple[dict[str, Any], bytes]:
    """Return the header and the columns' bytes. Use only the memory that the header announces."""
    largest = min(_LARGEST_PAYLOAD_BYTES, max(_SMALL_PAYLOAD_BYTES, _LARGEST_RATIO * len(data)))
    stream = zlib.decompressobj()
    start = stream.decompress(data, 4)
    (header_length,) = struct.unpack("<I", start)
    if header_length > min(largest, _LARGEST_HEADER_BYTES):
        raise TraceFileError(say("errors.file.absurd"))
    header = _read_header(_take(stream, header_length))
    column_length = sum(
        int(table["rows"]) * _item_bytes(column) + _padding(table["rows"], column)
        for table in header["tables"].values()
        for column in table["columns"].values()
    )
    if header_length + column_length > largest:
        raise TraceFileError(say("errors.file.absurd"))
    columns = _take(stream, column_length)
    # This also verifies the checksum. If there are more bytes than announced, the file is damaged.
    if stream.decompress(stream.unconsumed_tail, 1) or not stream.eof or stream.unused_data:
        raise TraceFileError(say("errors.file.damaged"))
    return header, columns


def _read_header(data: bytes) -> dict[str, Any]:
    # Parsed text needs little more memory than its bytes. But parsed "[[],[],…" needs 20 times as
    # much.
    structure = _JSON_STRING.sub(b"", data)
    if structure.count(b"[") + structure.count(b"{") > _MOST_HEADER_OBJECTS:
        raise TraceFileError(say("errors.file.absurd"))
    header = json.loads(data.decode("utf-8"))
    if not isinstance(header, dict):
        raise TypeError("header is no object")
    return header


def _take(stream: Any, length: int) -> bytes:
    """Return the next ``length`` bytes of a zlib stream."""
    parts: list[bytes] = []
    while length:
        part = stream.decompress(stream.unconsumed_tail, length)
        if not part:
            raise TraceFileError(say("errors.file.damaged"))
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _item_bytes(column: dict[str, Any]) -> int:
    if column["dtype"] not in DTYPES:
        raise ValueError("unknown column type")
    return int(column["dtype"][1:])


def _padding(rows: Any, column: dict[str, Any]) -> int:
    if type(rows) is not int or rows < 0:
        raise TypeError("rows is no count")
    return -rows * _item_bytes(column) % ALIGNMENT_BYTES


def _read_tables(header: dict[str, Any], data: bytes) -> dict[str, Table]:
    tables = {name: Table.empty(schema) for name, schema in RECORD_TABLES.items()}
    offset = 0
    for table_name, description in header["tables"].items():
        schema = RECORD_TABLES.get(table_name, {})
        rows = description["rows"]
        columns: dict[str, npt.NDArray[Any]] = {}
        for column_name, stored in description["columns"].items():
            if column_name in schema:
                values = _read_planes(data, stored["dtype"], rows, offset)
                values = np.cumsum(values) if stored["delta"] else values
                columns[column_name] = _typed(values, schema[column_name])
            offset += rows * _item_bytes(stored) + _padding(rows, stored)
        tables[table_name] = Table(columns)
    return {
        name: Table({column: tables[name][column] for column in schema})
        for name, schema in RECORD_TABLES.items()
    }


def _read_planes(data: bytes, dtype: str, rows: int, offset: int) -> npt.NDArray[np.int64]:
    item_bytes = int(dtype[1:])
    planes = np.frombuffer(data, np.uint8, rows * item_bytes, offset).reshape(item_bytes, rows)
    return np.ascontiguousarray(planes.T).view("<" + dtype).reshape(rows).astype(np.int64)


def _typed(values: npt.NDArray[np.int64], column_type: str) -> npt.NDArray[Any]:
    dtype = storage_dtype(column_type)
    limits = np.iinfo(dtype)
    if len(values) and (values.min() < limits.min or values.max() > limits.max):
        raise ValueError("a value does not fit its column")
    return values.astype(dtype)


def _read_texts(header: dict[str, Any]) -> tuple[list[str], Origin]:
    strings = header["strings"]
    if not isinstance(strings, list) or not strings:
        raise TypeError("strings is no list")
    origin = Origin()
    for field in dataclasses.fields(Origin):
        default = getattr(origin, field.name)
        value = header["origin"].get(field.name, default)
        if type(value) is not type(default):
            raise TypeError(f"origin.{field.name} is of another type")
        setattr(origin, field.name, value)
    for name in ("duration_ns", "stopped_line", "stopped_cell"):
        if not -(1 << 63) <= getattr(origin, name) < 1 << 63:
            raise ValueError(f"origin.{name} does not fit 8 bytes")
    texts = [
        origin.title,
        origin.created,
        origin.exception,
        origin.stopped_file,
        *origin.notices,
        *origin.checks,
        *strings,
    ]
    # This raises if a value is not text, or has a lone surrogate, which a file cannot contain.
    "".join([*texts, *strings]).encode("utf-8")
    return strings, origin


def _check_references(tables: dict[str, Table], string_count: int) -> None:
    for table_name, schema in RECORD_TABLES.items():
        for column_name, column_type in schema.items():
            lowest, end = _limits(column_type, tables, string_count)
            column = tables[table_name][column_name]
            if len(column) and end is not None and (column.min() < lowest or column.max() >= end):
                raise ValueError(f"{table_name}.{column_name} points nowhere")
    for table_name, column_name in _TREES:
        depths(tables[table_name][column_name])  # raises if parents form a cycle


def _limits(
    column_type: str, tables: dict[str, Table], string_count: int
) -> tuple[int, int | None]:
    kind, _, target = column_type.partition(":")
    if kind == "str":
        return 0, string_count
    if kind == "enum":
        return 0, len(ENUMERATIONS[target])
    if kind == "bool":
        return 0, 2
    if kind == "key":
        return -1, len(tables[target])
    return 0, None
