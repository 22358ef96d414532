"""The frame of a stack that is shown first."""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.answers import with_answers
from tests.trace.records import RecordWriter


def shown(w: RecordWriter) -> list[tuple[str, int] | None]:
    view = with_answers(w.record())
    frames = view.frames
    return [
        (view.text(int(frames["function"][frame])), int(frames["line"][frame]))
        if frame >= 0
        else None
        for frame in np.append(view.stack_frames["frame"], -1)[view.ops["stack"]].tolist()
    ]


def test_the_innermost_frame_of_ones_own():
    w = RecordWriter()
    with w.call("Net.forward", line=7, file="net.py"):
        with w.call("linear", line=12, file="paddle/f.py", kind="paddle"):
            w.op("matmul", line=99)
        w.op("relu", line=13)
    assert shown(w) == [("Net.forward", 12), ("Net.forward", 13)]


def test_the_innermost_library_frame_where_none_is_ones_own():
    w = RecordWriter()
    w._callers = [("lib.py", "fit", 3, "library")]
    with w.call("linear", line=4, file="paddle/f.py", kind="paddle"):
        w.op("matmul", line=99)
    w._callers = [("paddle/f.py", "linear", 3, "paddle")]
    w.op("relu", line=5)
    assert shown(w) == [("fit", 4), ("linear", 5)]


def test_the_function_of_a_thread_and_not_what_starts_it():
    w = RecordWriter()
    w._callers = [("lib/threading.py", "_bootstrap", 1002, "library")]
    with (
        w.call("run", line=982, file="lib/threading.py", kind="library"),
        w.call("_thread_loop", line=235, file="paddle/dataloader_iter.py", kind="paddle"),
        w.call("stack", line=12, file="paddle/f.py", kind="paddle"),
    ):
        w.op("stack", line=99)
    assert shown(w) == [("_thread_loop", 12)]


def test_ones_own_frame_comes_before_a_librarys_further_in():
    w = RecordWriter()
    with w.call("fit", line=7, file="lib.py", kind="library"):
        w.op("matmul", line=99)
    assert shown(w) == [("<module>", 7)]


def test_an_op_without_a_stack_has_no_frame():
    w = RecordWriter()
    w.row("ops", name="relu")
    assert shown(w) == [None]
