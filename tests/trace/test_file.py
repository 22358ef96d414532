"""Saving and opening: nothing lost, and one clear sentence for every kind of damage."""

from __future__ import annotations

import contextlib
import io
import json
import os
import stat
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle_lab.trace.errors import TraceFileError
from paddle_lab.trace.file import load, save, write_atomically
from paddle_lab.trace.pack import MAGIC, pack
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ADDED_TABLES, FORMAT_VERSION, RECORD_TABLES
from paddle_lab.trace.unpack import unpack
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
    """Return a whole file one cell of which holds something that no trace holds."""
    record = small_record()
    cells = record.tables[table].columns[column].astype(np.int64)
    cells[0] = value
    record.tables[table].columns[column] = cells
    return pack(record)


def test_a_record_comes_back_equal(tmp_path):
    record = small_record()
    path = save(record, tmp_path / "one.pdtrace")
    assert_equal(load(path), record)


def test_an_empty_record_comes_back_equal(tmp_path):
    record = RecordWriter().record()
    assert_equal(load(save(record, tmp_path / "empty.pdtrace")), record)


@settings(deadline=None)
@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1, max_size=50))
def test_any_integers_come_back_equal(values):
    record = small_record()
    count = len(record.ops)
    column = np.resize(np.asarray(values, np.int64), count)
    record.ops.columns["start_ns"] = column
    np.testing.assert_array_equal(unpack(pack(record)).ops["start_ns"], column)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_comes_back_equal_where_utf8_can_hold_it(text):
    record = small_record()
    record.strings[-1] = text
    record.origin.title = text
    expected = text.encode("utf-8", "replace").decode("utf-8")
    back = unpack(pack(record))
    assert (back.strings[-1], back.origin.title) == (expected, expected)


@pytest.mark.parametrize("length", range(len(PACKED)))
def test_every_cut_is_told(length):
    with pytest.raises(TraceFileError, match=r"not a paddle_lab trace|cut short or altered"):
        unpack(PACKED[:length])


@settings(max_examples=600, deadline=None)
@given(st.integers(0, len(PACKED) - 1), st.integers(1, 255))
def test_an_altered_byte_is_told_or_harmless(position, flip):
    altered = bytearray(PACKED)
    altered[position] ^= flip
    try:
        record = unpack(bytes(altered))
    except TraceFileError:
        return
    assert_equal(record, small_record())


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_an_altered_payload_with_a_right_checksum_raises_nothing_else(data):
    payload = bytearray(zlib.decompress(PACKED[12:]))
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(payload) - 1))
        payload[position] = data.draw(st.integers(0, 255))
    with contextlib.suppress(TraceFileError):
        unpack(PACKED[:12] + zlib.compress(bytes(payload)))


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_after_the_magic_raise_nothing_else(data):
    with pytest.raises(TraceFileError):
        unpack(MAGIC + data)


def test_a_newer_version_is_refused_with_what_to_do():
    newer = repacked(lambda _header: None, version=FORMAT_VERSION + 1)
    with pytest.raises(TraceFileError, match=r"newer than this paddle_lab reads.*update"):
        unpack(newer)


def without_later_tables(header) -> None:
    for name in ADDED_TABLES[2]:
        del header["tables"][name]


def test_a_file_of_an_older_version_opens_with_its_missing_tables_empty():
    record = unpack(repacked(without_later_tables, version=1))
    assert_equal(record, small_record())


def test_a_file_that_lacks_a_table_of_its_own_version_is_damaged():
    with pytest.raises(TraceFileError, match="cut short or altered"):
        unpack(repacked(without_later_tables))


def png() -> bytes:
    return b"\x89PNG\r\n\x1a\n" + bytes(100)


def npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, a=np.arange(3))
    return file.getvalue()


def archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        z.writestr("a", "b")
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "empty"),
        (png(), "PNG picture"),
        (npz(), "zip archive"),
        (archive(), "zip archive"),
        (b"import paddle\n", "not a paddle_lab trace"),
        (b"\x80\x04\x95", "pickle"),
        (MAGIC, "cut short"),
        (MAGIC.replace(b"\r\n", b"\n") + PACKED[8:], "not a paddle_lab trace"),
        (PACKED + b"\0", "cut short or altered"),
    ],
)
def test_what_is_no_trace_is_named(tmp_path, content, sentence):
    path = tmp_path / "thing.bin"
    path.write_bytes(content)
    with pytest.raises(TraceFileError, match=sentence) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_os_errors_with_a_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*check its name"):
        load(tmp_path / "absent.pdtrace")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        load(tmp_path)


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


def test_tables_of_a_later_writer_are_left_out():
    def add(header):
        header["tables"]["later_rows"] = {
            "rows": 3,
            "columns": {"value": {"dtype": "i1", "delta": True}},
        }

    record = unpack(repacked(add, extra=bytes(8)))
    assert_equal(record, small_record())
    assert "later_rows" not in record.tables


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
        with pytest.raises(TraceFileError, match=r"more data than a trace has|altered"):
            unpack(data)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 16 << 20


@pytest.mark.parametrize("text", [b"[" * 200_000, b"[" + b"[]," * 2_000_000 + b"[]]"])
def test_a_header_that_unfolds_is_refused(text):
    data = MAGIC + struct.pack("<I", FORMAT_VERSION)
    data += zlib.compress(struct.pack("<I", len(text)) + text)
    with pytest.raises(TraceFileError, match="more data than a trace has"):
        unpack(data)


def test_a_save_that_fails_leaves_the_older_file(tmp_path, monkeypatch):
    path = save(small_record(), tmp_path / "one.pdtrace")
    before = path.read_bytes()

    def full_disk(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        save(RecordWriter().record(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_saved_file_has_the_permissions_of_any_new_file(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("")
    path = save(small_record(), tmp_path / "one.pdtrace")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_saving_into_no_folder_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_atomically(tmp_path / "absent" / "one.pdtrace", b"")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write_atomically(tmp_path, b"")


@pytest.mark.parametrize("name", ["n" * 255, "ä" * 127])
def test_a_name_as_long_as_a_name_can_be_is_saved(tmp_path, name):
    path = save(small_record(), tmp_path / name)
    assert_equal(load(path), small_record())
    assert list(tmp_path.iterdir()) == [path]


def test_saving_through_a_link_keeps_the_link(tmp_path):
    target = save(small_record(), tmp_path / "target.pdtrace")
    link = tmp_path / "link.pdtrace"
    link.symlink_to(target)
    save(RecordWriter().record(), link)
    assert link.is_symlink()
    assert len(load(target).ops) == 0


def test_a_header_nested_too_deep_is_refused():
    text = b"[" * 5_000 + b"]" * 5_000
    data = MAGIC + struct.pack("<I", FORMAT_VERSION)
    data += zlib.compress(struct.pack("<I", len(text)) + text)
    with pytest.raises(TraceFileError, match="altered"):
        unpack(data)
