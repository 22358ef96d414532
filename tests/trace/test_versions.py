"""Files of other formats are refused; missing or additional tables do not make another format."""

from __future__ import annotations

import pytest

from paddle_lab.trace.record import TraceFileError
from paddle_lab.trace.schema import FORMAT_VERSION
from paddle_lab.trace.unpack import unpack
from tests.trace.packed import assert_equal, repacked, small_record


@pytest.mark.parametrize("version", [0, FORMAT_VERSION + 1, 4, 1 << 31])
def test_another_format_is_refused_with_what_to_do(version):
    other = repacked(lambda _header: None, version=version)
    sentence = rf"saved in format {version}, and .* only format {FORMAT_VERSION}; update .*again$"
    with pytest.raises(TraceFileError, match=sentence):
        unpack(other)


def test_tables_without_rows_are_not_in_a_file():
    def check(header):
        assert "ops" in header["tables"]
        assert "allocations" not in header["tables"]

    record = unpack(repacked(check))
    assert_equal(record, small_record())


def test_tables_of_a_later_writer_are_left_out():
    def add(header):
        header["tables"]["later_rows"] = {
            "rows": 3,
            "columns": {"value": {"dtype": "i1", "delta": True}},
        }

    record = unpack(repacked(add, extra=bytes(8)))
    assert_equal(record, small_record())
    assert "later_rows" not in record.tables
