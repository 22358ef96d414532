"""Any damaged or malicious file causes one clear sentence, and uses little memory."""

from __future__ import annotations

import contextlib
import json
import struct
import tracemalloc
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle_lab.trace.pack import MAGIC
from paddle_lab.trace.record import TraceFileError
from paddle_lab.trace.schema import FORMAT_VERSION
from paddle_lab.trace.unpack import unpack
from tests.trace.packed import PACKED, assert_equal, repacked, small_record, with_cell


def test_every_cut_is_told():
    for length in range(len(PACKED)):
        with pytest.raises(TraceFileError, match=r"not a paddle_lab trace|cut short or altered"):
            unpack(PACKED[:length])


@settings(max_examples=600)
@given(st.integers(0, len(PACKED) - 1), st.integers(1, 255))
def test_an_altered_byte_is_told_or_harmless(position, flip):
    altered = bytearray(PACKED)
    altered[position] ^= flip
    try:
        record = unpack(bytes(altered))
    except TraceFileError:
        return
    assert_equal(record, small_record())


@settings(max_examples=300)
@given(st.data())
def test_an_altered_payload_with_a_right_checksum_raises_nothing_else(data):
    payload = bytearray(zlib.decompress(PACKED[12:]))
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(payload) - 1))
        payload[position] = data.draw(st.integers(0, 255))
    with contextlib.suppress(TraceFileError):
        unpack(PACKED[:12] + zlib.compress(bytes(payload)))


@given(st.binary(max_size=200))
def test_any_bytes_after_the_magic_raise_nothing_else(data):
    with pytest.raises(TraceFileError):
        unpack(MAGIC + data)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("ops", "name", 10_000),
        ("ops", "name", -1),
        ("ops", "scope", 50),
        ("ops", "stack", -2),
        ("ops", "phase", 3),
        ("ops", "raised", 2),
        ("tensors", "producer", 99),
        ("uses", "role", 200),
        ("grad_edges", "target", 3),
        ("ops", "scope", 1 << 40),
    ],
)
def test_a_reference_that_points_nowhere_is_refused(table, column, value):
    with pytest.raises(TraceFileError, match="altered"):
        unpack(with_cell(table, column, value))


@pytest.mark.parametrize(
    ("table", "column"),
    [("scopes", "parent"), ("stacks", "caller"), ("layers", "parent"), ("tensors", "previous")],
)
def test_parents_that_go_round_are_refused(table, column):
    with pytest.raises(TraceFileError, match="altered"):
        unpack(with_cell(table, column, 0))


CHANGES = {
    "no strings": lambda header: header.update(strings=[]),
    "strings of another type": lambda header: header["strings"].append(3),
    "half a surrogate pair": lambda header: header["strings"].append("\ud800"),
    "a title of another type": lambda header: header["origin"].update(title=3),
    "notices of another type": lambda header: header["origin"].update(notices=[3]),
    "a duration beyond 8 bytes": lambda header: header["origin"].update(duration_ns=10**400),
    "a table missing": lambda header: header["tables"].pop("grad_roots"),
    "a column missing": lambda header: header["tables"]["grad_roots"]["columns"].clear(),
    "rows of another type": lambda header: header["tables"]["ops"].update(rows="2"),
    "negative rows": lambda header: header["tables"]["ops"].update(rows=-1),
    "an object column": lambda header: header["tables"]["ops"]["columns"]["name"].update(dtype="O"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_header_that_no_trace_has_is_refused(name):
    with pytest.raises(TraceFileError, match="altered"):
        unpack(repacked(CHANGES[name]))


def test_bytes_that_the_header_does_not_announce_are_refused():
    with pytest.raises(TraceFileError, match="altered"):
        unpack(repacked(lambda _header: None, extra=b"\0"))


def bomb(start: bytes, mebibytes: int) -> bytes:
    compressor = zlib.compressobj(9)
    parts = [MAGIC, struct.pack("<I", FORMAT_VERSION), compressor.compress(start)]
    block = bytes(1 << 20)
    parts += [compressor.compress(block) for _ in range(mebibytes)]
    return b"".join((*parts, compressor.flush()))


def announcing(rows: int) -> bytes:
    header = {"strings": [""], "origin": {}, "tables": {}}
    header["tables"]["ops"] = {"rows": rows, "columns": {"name": {"dtype": "i8", "delta": False}}}
    text = json.dumps(header).encode()
    return struct.pack("<I", len(text)) + text


@pytest.mark.parametrize(
    "start",
    [
        struct.pack("<I", 0x7FFF_FFFF),  # a header of 2 GiB
        announcing(1 << 60),
        announcing(300 << 17),  # 300 MiB, which are there
        announcing(1),
    ],
    ids=["header", "absurd rows", "more than is plausible", "more than is announced"],
)
def test_a_decompression_bomb_takes_little_memory(start):
    data = bomb(start, 300)
    assert len(data) < 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(TraceFileError, match=r"more data than any trace holds|altered"):
            unpack(data)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 16 << 20


@pytest.mark.parametrize("text", [b"[" * 200_000, b"[" + b"[]," * 2_000_000 + b"[]]"])
def test_a_header_that_unfolds_is_refused(text):
    data = MAGIC + struct.pack("<I", FORMAT_VERSION)
    data += zlib.compress(struct.pack("<I", len(text)) + text)
    with pytest.raises(TraceFileError, match="more data than any trace holds"):
        unpack(data)


def test_a_header_nested_too_deep_is_refused():
    text = b"[" * 5_000 + b"]" * 5_000
    data = MAGIC + struct.pack("<I", FORMAT_VERSION)
    data += zlib.compress(struct.pack("<I", len(text)) + text)
    with pytest.raises(TraceFileError, match="altered"):
        unpack(data)
