"""A small packed record, and copies of it with content that no writer produces."""

from __future__ import annotations

import json
import struct
import zlib

import numpy as np

from paddle_lab.trace.pack import MAGIC, pack
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import FORMAT_VERSION, RECORD_TABLES
from tests.trace.records import RecordWriter


def small_record() -> Record:
    w = RecordWriter()
    x = w.tensor("x")
    with w.layer("net", "Net"), w.layer("net.fc", "Linear"):
        weight = w.parameter("net.fc.weight")
        y = w.op("matmul", x, weight, line=3)
    z = w.op("relu", y, line=4, attributes="0.5, 'ü'")
    node = w.grad_node("MatmulGradNode", w.producer(y))
    leaf = w.grad_node("GradNodeAccumulation", parameter=weight)
    root = w.grad_node("ReluGradNode", w.producer(z))
    w.grad_edge(root, node)
    w.grad_edge(node, leaf, 1)
    w.backward(root)
    w.origin.notices.append("Something was not seen.")
    return w.record()


PACKED = pack(small_record())


def assert_equal(left: Record, right: Record) -> None:
    assert left.strings == right.strings
    assert left.origin == right.origin
    for name, schema in RECORD_TABLES.items():
        for column in schema:
            a, b = left.tables[name][column], right.tables[name][column]
            assert a.dtype == b.dtype, (name, column)
            np.testing.assert_array_equal(a, b, err_msg=f"{name}.{column}")


def repacked(change, *, extra: bytes = b"", version: int = FORMAT_VERSION) -> bytes:
    """Return a whole, checksummed file whose header was changed."""
    payload = zlib.decompress(PACKED[12:])
    (length,) = struct.unpack_from("<I", payload)
    header = json.loads(payload[4 : 4 + length])
    change(header)
    text = json.dumps(header).encode()
    body = struct.pack("<I", len(text)) + text + payload[4 + length :] + extra
    return MAGIC + struct.pack("<I", version) + zlib.compress(body)


def with_cell(table: str, column: str, value: int) -> bytes:
    """Return a whole file with one invalid value."""
    record = small_record()
    cells = record.tables[table].columns[column].astype(np.int64)
    cells[0] = value
    record.tables[table].columns[column] = cells
    return pack(record)
