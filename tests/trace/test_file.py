"""Saving and opening: nothing is lost or overwritten; a file without a trace gives one sentence."""

from __future__ import annotations

import io
import os
import stat
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle_lab.trace.file import load, save, write_atomically
from paddle_lab.trace.pack import MAGIC, pack
from paddle_lab.trace.record import TraceFileError
from paddle_lab.trace.unpack import unpack
from tests.trace.packed import PACKED, assert_equal, small_record
from tests.trace.records import RecordWriter


def test_a_record_comes_back_equal(tmp_path):
    record = small_record()
    path = save(record, tmp_path / "one.pltrace")
    assert_equal(load(path), record)


def test_an_empty_record_comes_back_equal(tmp_path):
    record = RecordWriter().record()
    assert_equal(load(save(record, tmp_path / "empty.pltrace")), record)


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1, max_size=50))
def test_any_integers_come_back_equal(values):
    record = small_record()
    count = len(record.ops)
    column = np.resize(np.asarray(values, np.int64), count)
    record.ops.columns["start_ns"] = column
    np.testing.assert_array_equal(unpack(pack(record)).ops["start_ns"], column)


@given(st.text(max_size=40))
def test_any_text_comes_back_equal_where_utf8_can_hold_it(text):
    record = small_record()
    record.strings[-1] = text
    record.origin.title = text
    expected = text.encode("utf-8", "replace").decode("utf-8")
    back = unpack(pack(record))
    assert (back.strings[-1], back.origin.title) == (expected, expected)


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
        load(tmp_path / "absent.pltrace")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        load(tmp_path)


def test_a_save_that_fails_leaves_the_older_file(tmp_path, monkeypatch):
    path = save(small_record(), tmp_path / "one.pltrace")
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
    path = save(small_record(), tmp_path / "one.pltrace")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_saving_into_no_folder_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_atomically(tmp_path / "absent" / "one.pltrace", b"")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write_atomically(tmp_path, b"")


@pytest.mark.parametrize("name", ["n" * 255, "ä" * 127])
def test_a_name_as_long_as_a_name_can_be_is_saved(tmp_path, name):
    path = save(small_record(), tmp_path / name)
    assert_equal(load(path), small_record())
    assert list(tmp_path.iterdir()) == [path]


def test_saving_through_a_link_keeps_the_link(tmp_path):
    target = save(small_record(), tmp_path / "target.pltrace")
    link = tmp_path / "link.pltrace"
    link.symlink_to(target)
    save(RecordWriter().record(), link)
    assert link.is_symlink()
    assert len(load(target).ops) == 0
