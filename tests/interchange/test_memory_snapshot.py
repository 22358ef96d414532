"""The snapshot for PyTorch's memory viewer, compared with what the viewer reads."""

from __future__ import annotations

import pickle
import pickletools

import pytest

from paddle_lab.api import Trace
from paddle_lab.trace.schema import ALLOCATION_KINDS
from tests.analysis.memory.test_out_of_memory import GPU_TEXT
from tests.analysis.memory.traces import training_step
from tests.trace.records import RecordWriter

READABLE = {
    "APPEND", "APPENDS", "BINFLOAT", "BINGET", "BININT", "BININT1", "BININT2", "BINPUT",
    "BINUNICODE", "DICT", "EMPTY_DICT", "EMPTY_LIST", "EMPTY_TUPLE", "FRAME", "LIST", "LONG1",
    "LONG_BINGET", "LONG_BINPUT", "MARK", "MEMOIZE", "NEWFALSE", "NEWTRUE", "NONE", "PROTO",
    "SETITEM", "SETITEMS", "SHORT_BINUNICODE", "STOP", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3",
}  # fmt: skip
"""The opcodes that the viewer's reader of pickles knows; it stops at any other."""


def snapshot_of(trace: Trace, tmp_path):
    return pickle.loads(trace.to_memory_snapshot(tmp_path / "memory.pickle").read_bytes())


def replayed(snapshot, device: int) -> list[int]:
    """Return the running total as the viewer draws it, the start first.

    A release whose allocation the events do not have, and a living block of a segment likewise, was
    there from the start.
    """
    drawn = ("alloc", "free_completed")
    events = [event for event in snapshot["device_traces"][device] if event["action"] in drawn]
    living: dict[int, int] = {}
    at_start = 0
    for event in events:
        if event["action"] == "alloc":
            living[event["addr"]] = event["size"]
        elif event["addr"] in living:
            del living[event["addr"]]
        else:
            at_start += event["size"]
    for segment in snapshot["segments"]:
        for block in segment["blocks"] if segment["device"] == device else ():
            if block["state"] == "active_allocated" and block["address"] not in living:
                at_start += block["requested_size"]
    totals = [at_start]
    for event in events:
        sign = 1 if event["action"] == "alloc" else -1
        totals.append(totals[-1] + sign * event["size"])
    return totals


def test_the_viewer_knows_every_opcode(tmp_path):
    path = training_step().to_memory_snapshot(tmp_path / "memory.pickle")
    opcodes = list(pickletools.genops(path.read_bytes()))
    assert {opcode.name for opcode, _, _ in opcodes} <= READABLE
    assert opcodes[0][1] in (2, 3, 4)


def test_the_viewer_s_total_is_ours(tmp_path):
    trace = training_step()
    timeline = trace.memory.timeline
    totals = replayed(snapshot_of(trace, tmp_path), 0)
    assert totals == [timeline.start_bytes, *timeline.allocated_bytes.tolist()]
    assert max(totals) == trace.memory.peak_bytes


def test_a_release_is_two_events_that_the_viewer_joins(tmp_path):
    events = snapshot_of(training_step(), tmp_path)["device_traces"][0]
    actions = [event["action"] for event in events]
    for row, action in enumerate(actions):
        if action == "free_requested":
            assert actions[row + 1] == "free_completed"
            assert events[row]["addr"] == events[row + 1]["addr"]
    assert actions.count("free_requested") == actions.count("free_completed") == 2


def test_one_category_is_called_unknown(tmp_path):
    events = snapshot_of(training_step(), tmp_path)["device_traces"][0]
    categories = {event["category"] for event in events}
    assert "unknown" in categories
    assert categories <= set(ALLOCATION_KINDS)


def test_frames_begin_with_op_layer_and_kind(tmp_path):
    events = snapshot_of(training_step(), tmp_path)["device_traces"][0]
    saved = next(event for event in events if event["size"] == 100_000)
    assert saved["frames"] == [
        {"filename": "op 0 linear in net.fc", "line": 0, "name": "saved_activation"},
        {"filename": "paddle/f.py", "line": 50, "name": "linear"},
        {"filename": "cell", "line": 3, "name": "<module>"},
    ]
    gradient = next(event for event in events if event["category"] == "gradient")
    assert gradient["frames"][0]["filename"] == "op 0 linear, backward in net.fc"
    assert len(gradient["frames"]) == 3


def check_segments(snapshot) -> None:
    """Every block lies in a segment, and each segment is filled by its blocks and holes."""
    spans = []
    for segment in snapshot["segments"]:
        reached = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == reached
            assert block["size"] > 0
            reached += block["size"]
        assert reached == segment["address"] + segment["total_size"]
        spans.append((segment["device"], segment["address"], reached))
    for device, events in enumerate(snapshot["device_traces"]):
        for event in events:
            if event["action"] in ("alloc", "free_completed"):
                assert any(
                    d == device and first <= event["addr"] < last for d, first, last in spans
                )


def test_segments_are_filled_and_hold_every_block(tmp_path):
    check_segments(snapshot_of(training_step(), tmp_path))


def test_blocks_far_apart_reused_empty_and_overlapping_are_no_trouble(tmp_path):
    w = RecordWriter()
    w.allocation(0, start_ns=1, address=1 << 45)
    w.allocation(64, start_ns=2, end_ns=5, address=1 << 20)
    w.allocation(256, start_ns=6, address=1 << 20)
    w.allocation(100, start_ns=7, address=(1 << 20) + 8)
    w.allocation(0, start_ns=8, end_ns=8, address=1 << 44)
    snapshot = snapshot_of(Trace(w.record()), tmp_path)
    check_segments(snapshot)
    assert len(snapshot["segments"]) == 3


def test_each_place_is_a_device_and_gpus_keep_their_numbers(tmp_path):
    w = RecordWriter()
    for start_ns, place in enumerate(("cpu", "gpu:1", "gpu_pinned", "gpu:3")):
        w.allocation(10 + start_ns, start_ns=start_ns, place=place)
    snapshot = snapshot_of(Trace(w.record()), tmp_path)
    sizes = [
        [event["size"] for event in events if event["action"] == "alloc"]
        for events in snapshot["device_traces"]
    ]
    assert sizes == [[10], [11], [12], [13]]
    check_segments(snapshot)


def test_an_out_of_memory_error_is_an_event(tmp_path):
    w = RecordWriter()
    w.allocation(8)
    w.origin.exception = GPU_TEXT
    last = snapshot_of(Trace(w.record()), tmp_path)["device_traces"][0][-1]
    assert (last["action"], last["size"], last["device_free"]) == (
        "oom", round(1.5 * 1024**3), round(716.75 * 1024**2),
    )  # fmt: skip


def test_without_memory_nothing_is_written(tmp_path):
    w = RecordWriter()
    w.op("relu")
    with pytest.raises(ValueError, match="recorded no memory"):
        Trace(w.record()).to_memory_snapshot(tmp_path / "none.pickle")
    assert not (tmp_path / "none.pickle").exists()
