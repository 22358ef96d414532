"""Living memory as CSV."""

from __future__ import annotations

import csv
import io

import pytest

from paddle_lab.api import Trace
from paddle_lab.interchange.memory_csv import COLUMNS
from tests.analysis.memory.traces import training_step
from tests.trace.records import RecordWriter


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_it_is_what_was_alive_at_the_peak(tmp_path):
    trace = training_step()
    path = trace.to_memory_csv(tmp_path / "peak.csv")
    found = rows(path.read_text(encoding="utf-8"))
    assert tuple(found[0]) == COLUMNS
    assert sum(int(row["bytes"]) for row in found) == trace.memory.peak_bytes
    last = found[-1]
    assert (last["bytes"], last["kind"], last["place"], last["address"]) == (
        "10000", "before the trace, not used in it", "cpu", "",
    )  # fmt: skip
    first = found[0]
    assert (first["bytes"], first["kind"], first["op_name"], first["layer"], first["line"]) == (
        "100000", "saved_activation", "linear", "net.fc", "3",
    )  # fmt: skip
    parameter = next(row for row in found if row["kind"] == "parameter")
    assert (parameter["tensor"], parameter["op"], parameter["start_ns"], parameter["line"]) == (
        "net.fc.weight", "", "", "",
    )  # fmt: skip


def test_another_moment_and_place(tmp_path):
    trace = training_step()
    path = trace.to_memory_csv(tmp_path / "end.csv", time_ns=6000, place="cpu")
    assert "saved_activation" not in path.read_text()
    with pytest.raises(ValueError, match="no memory of 'gpu:3'"):
        trace.to_memory_csv(tmp_path / "none.csv", place="gpu:3")
    with pytest.raises(TypeError, match="did you mean 'time_ns'"):
        trace.to_memory_csv(tmp_path / "none.csv", tim_ns=3)
    assert not (tmp_path / "none.csv").exists()


def test_a_name_is_no_formula(tmp_path):
    w = RecordWriter()
    with w.layer("=cmd|' /C calc'!A0"):
        w.allocation(8, tensor=w.op('@SUM(1,"2")\n', shape=(2,)))
    path = Trace(w.record()).to_memory_csv(tmp_path / "x.csv")
    (row,) = rows(path.read_text(encoding="utf-8"))
    assert row["layer"] == "'=cmd|' /C calc'!A0"
    assert row["op_name"].startswith("'@SUM(")
