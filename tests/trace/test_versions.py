"""Files of older and newer writers: read as far as they can be, else refused with what to do."""

from __future__ import annotations

import pytest

from paddle_lab.trace.errors import TraceFileError
from paddle_lab.trace.schema import ADDED_TABLES, FORMAT_VERSION
from paddle_lab.trace.unpack import unpack
from tests.trace.packed import assert_equal, repacked, small_record


def test_a_newer_version_is_refused_with_what_to_do():
    newer = repacked(lambda _header: None, version=FORMAT_VERSION + 1)
    with pytest.raises(TraceFileError, match=r"newer than this paddle_lab reads.*update"):
        unpack(newer)


def without_later_tables(header) -> None:
    for name in (name for names in ADDED_TABLES.values() for name in names):
        del header["tables"][name]


def test_a_file_of_an_older_version_opens_with_its_missing_tables_empty():
    record = unpack(repacked(without_later_tables, version=1))
    assert_equal(record, small_record())


def test_a_file_that_lacks_a_table_of_its_own_version_is_damaged():
    with pytest.raises(TraceFileError, match="cut short or altered"):
        unpack(repacked(without_later_tables))


def test_tables_of_a_later_writer_are_left_out():
    def add(header):
        header["tables"]["later_rows"] = {
            "rows": 3,
            "columns": {"value": {"dtype": "i1", "delta": True}},
        }

    record = unpack(repacked(add, extra=bytes(8)))
    assert_equal(record, small_record())
    assert "later_rows" not in record.tables
