"""The JSON for Perfetto and chrome://tracing, compared with what Perfetto reads."""

from __future__ import annotations

import gzip
import json

import pytest

from paddle_lab.api import Trace
from tests.analysis.memory.test_growth import loop
from tests.analysis.memory.traces import training_step
from tests.trace.records import RecordWriter


def events_of(trace: Trace, tmp_path) -> list[dict]:
    path = trace.to_chrome_trace(tmp_path / "trace.json")
    return json.loads(path.read_text(encoding="utf-8"))["traceEvents"]


def nanoseconds(microseconds: float) -> int:
    """Read a time as Perfetto does: whole ns, the rest cut off."""
    return int(microseconds * 1000)


def check_slices(events) -> None:
    """Slices of a thread nest: Perfetto moves any that overlap to a row of their own."""
    around: dict[int, list[tuple[int, int]]] = {}
    for event in (event for event in events if event["ph"] == "X"):
        start = nanoseconds(event["ts"])
        end = start + nanoseconds(event["dur"])
        stack = around.setdefault(event["tid"], [])
        while stack and stack[-1][1] <= start:
            stack.pop()
        if stack:
            assert stack[-1][0] <= start
            assert end <= stack[-1][1]
        stack.append((start, end))


def check_shape(events) -> None:
    opened = {}
    for event in events:
        assert event["ph"] in set("MXCibe")
        assert event["pid"] == 1
        assert isinstance(event["name"], str)
        if event["ph"] != "M":
            assert event["ts"] >= 0
        if event["ph"] == "X":
            assert event["dur"] >= 0
            assert event["tid"] > 0
        if event["ph"] == "C":
            assert all(isinstance(value, int) for value in event["args"].values())
        if event["ph"] in "be":
            key = (event["cat"], event["id"])
            if event["ph"] == "b":
                assert key not in opened
                opened[key] = event["ts"]
            else:
                assert event["ts"] >= opened.pop(key)
    assert not opened


def test_slices_are_layers_and_ops(tmp_path):
    events = events_of(training_step(), tmp_path)
    check_shape(events)
    check_slices(events)
    slices = [(e["name"], e["cat"], nanoseconds(e["ts"]), nanoseconds(e["dur"])) for e in events
              if e["ph"] == "X"]  # fmt: skip
    assert slices == [
        ("net", "layer", 0, 2100),
        ("net.fc", "layer", 0, 1000),
        ("linear", "forward", 0, 1000),
        ("relu", "forward", 1100, 1000),
    ]
    linear = next(e for e in events if e["name"] == "linear" and e["ph"] == "X")
    assert linear["args"]["line"] == "Cell 4, line 3"
    assert linear["args"]["layer"] == "net.fc"


def test_counters_are_the_running_totals(tmp_path):
    trace = training_step()
    events = events_of(trace, tmp_path)

    def counter(name):
        return [e["args"]["bytes"] for e in events if e["ph"] == "C" and e["name"] == name]

    assert counter("allocated cpu") == [50_000, *trace.memory.timeline.allocated_bytes.tolist()]
    assert counter("temporary cpu") == [30_000, 0]
    assert counter("parameter cpu") == [40_000]
    assert counter("reserved cpu") == []
    peak = next(e for e in events if e["name"] == "peak cpu")
    assert (nanoseconds(peak["ts"]), peak["args"]["bytes"]) == (3000, 240_000)


def test_reserved_memory_is_a_counter_where_it_is_known(tmp_path):
    w = RecordWriter()
    w.memory_total(0, 0, 4096, "gpu:0")
    w.allocation(100, start_ns=5, place="gpu:0")
    events = events_of(Trace(w.record()), tmp_path)
    assert [e["args"]["bytes"] for e in events if e["name"] == "reserved gpu:0"] == [4096, 4096]


def test_the_largest_blocks_have_lives(tmp_path):
    events = events_of(training_step(), tmp_path)
    lives = {e["id"]: e for e in events if e["ph"] == "b"}
    assert lives[1]["args"]["bytes"] == 100_000
    assert lives[1]["args"]["alive at the end"] is False
    ends = {e["id"]: nanoseconds(e["ts"]) for e in events if e["ph"] == "e"}
    assert (ends[1], ends[3]) == (5000, 1_500_000)


def test_steps_are_marked(tmp_path):
    events = events_of(loop(4, lambda _: [(3, 8, 0)]), tmp_path)
    assert [e["name"] for e in events if e["ph"] == "i"] == [
        "step 1", "step 2", "step 3", "step 4", "peak cpu",
    ]  # fmt: skip


def slices_of(events) -> list[tuple[str, int, int]]:
    return [(e["name"], nanoseconds(e["ts"]), nanoseconds(e["dur"])) for e in events
            if e["ph"] == "X"]  # fmt: skip


def test_threads_have_rows(tmp_path):
    w = RecordWriter()
    w.op("relu")
    w.op("add", thread=1)
    events = events_of(Trace(w.record()), tmp_path)
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert names == {1: "Python thread 0", 2: "Python thread 1"}
    assert [e["tid"] for e in events if e["name"] == "add"] == [2]


def test_a_pylayer_is_the_call_around_its_ops(tmp_path):
    w = RecordWriter()
    with w.scope("pylayer", "Swish", op=1):
        w.op("sigmoid", duration_ns=3_000)
    w.op("Swish", duration_ns=3_500)
    w.tables["ops"].set(1, "start_ns", 0)
    events = events_of(Trace(w.record()), tmp_path)
    assert slices_of(events) == [("Swish", 0, 3_500), ("sigmoid", 0, 3_000)]
    assert next(e for e in events if e["name"] == "Swish")["args"] == {"kind": "pylayer", "op": 1}


def test_a_layer_lasts_as_long_as_the_layers_in_it(tmp_path):
    w = RecordWriter()
    with w.layer("net"):
        for name in ("net.a", "net.b"):
            with w.layer(name):
                w.op("relu", duration_ns=900)
        with w.layer("net.unused"):
            pass
    events = events_of(Trace(w.record()), tmp_path)
    assert slices_of(events) == [
        ("net", 0, 1900), ("net.a", 0, 900), ("relu", 0, 900), ("net.b", 1000, 900),
        ("relu", 1000, 900),
    ]  # fmt: skip


def test_ops_that_overlap_are_made_to_nest(tmp_path):
    w = RecordWriter()
    w.op("run_program", duration_ns=1000)
    w.op("relu", duration_ns=5000)
    w.tables["ops"].set(1, "start_ns", 500)
    events = events_of(Trace(w.record()), tmp_path)
    check_slices(events)
    assert slices_of(events) == [("run_program", 0, 1000), ("relu", 500, 500)]


def test_odd_nanoseconds_still_nest(tmp_path):
    w = RecordWriter()
    for number in range(300):
        with w.layer(f"net.{number}"):
            w.op("relu", duration_ns=7 * number + 1)
            w.op("add", duration_ns=13 * number + 3)
    check_slices(events_of(Trace(w.record()), tmp_path))


@pytest.mark.parametrize("name", ["trace.json.gz", "trace.json"])
def test_a_compressed_file_is_the_same(tmp_path, name):
    data = training_step().to_chrome_trace(tmp_path / name).read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    assert json.loads(text)["displayTimeUnit"] == "ns"


def test_a_trace_without_memory_has_its_ops(tmp_path):
    w = RecordWriter()
    w.op("relu </script>\n\"'")
    events = events_of(Trace(w.record()), tmp_path)
    assert [e["ph"] for e in events] == ["M", "M", "X"]


def test_an_empty_trace_is_still_a_file(tmp_path):
    assert [e["ph"] for e in events_of(Trace(RecordWriter().record()), tmp_path)] == ["M"]
