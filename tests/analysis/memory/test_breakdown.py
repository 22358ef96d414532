"""Living memory at a moment, divided by op, layer, line and kind."""

from __future__ import annotations

import pytest

from paddle_lab.analysis.memory.sizes import moment_text, size_text
from paddle_lab.api import Trace
from tests.analysis.memory.traces import training_step
from tests.trace.records import RecordWriter


def shares(breakdown):
    return {share.label: (share.bytes, share.count) for share in breakdown}


UNSEEN = ("before the trace, not used in it", (10_000, 0))


def test_the_peak_by_kind():
    memory = training_step().memory
    assert (memory.peak_bytes, memory.peak_ns) == (240_000, 3000)
    assert shares(memory.by_kind()) == dict(
        [
            ("saved_activation", (100_000, 1)),
            ("activation", (50_000, 1)),
            ("parameter", (40_000, 1)),
            ("gradient", (40_000, 1)),
            UNSEEN,
        ]
    )
    assert memory.by_kind()[0].share == pytest.approx(100 / 240)


def test_backward_s_blocks_are_the_forward_op_s():
    memory = training_step().memory
    assert shares(memory.by_op()) == dict(
        [("linear", (140_000, 2)), ("relu", (50_000, 1)), ("before the trace", (40_000, 1)), UNSEEN]
    )
    assert memory.by_op()[0].op.key == 0
    assert [block.kind for block in memory.by_op()[0].allocations] == [
        "saved_activation", "gradient",
    ]  # fmt: skip


def test_parameters_are_their_layer_s():
    assert shares(training_step().memory.by_layer()) == dict(
        [("net.fc", (180_000, 3)), ("net", (50_000, 1)), UNSEEN]
    )


def test_lines_are_the_user_s():
    memory = training_step().memory
    by_line = memory.by_line()
    assert shares(by_line) == dict(
        [
            ("Cell 4, line 3", (140_000, 2)),
            ("Cell 4, line 4", (50_000, 1)),
            ("before the trace", (40_000, 1)),
            UNSEEN,
        ]
    )
    assert by_line[0].frame.text == "h = net(x)"
    assert "h = net(x)" in repr(by_line)


def test_two_functions_on_one_line_are_one_share():
    w = RecordWriter()
    w.allocation(10, tensor=w.op("relu", line=3))
    frame = w.row("frames", file="cell", function="<lambda>", line=3, cell=4, kind="user")
    stack = w.row("stacks", frame=frame, caller=-1)
    w.allocation(5, stack=stack, start_ns=2000)
    assert shares(Trace(w.record()).memory.by_line()) == {"Cell 4, line 3": (15, 2)}


def test_another_moment():
    memory = training_step().memory
    assert shares(memory.by_kind(500)) == dict(
        [("saved_activation", (100_000, 1)), ("parameter", (40_000, 1)),
         ("temporary", (30_000, 1)), UNSEEN]
    )  # fmt: skip
    assert "saved_activation" not in shares(memory.by_kind(5000))


def test_blocks_that_are_nobody_s():
    w = RecordWriter()
    w.allocation(7, start_ns=3)
    memory = Trace(w.record()).memory
    assert list(shares(memory.by_op())) == ["outside ops"]
    assert list(shares(memory.by_layer())) == ["outside layers"]
    assert list(shares(memory.by_line())) == ["outside lines"]


def test_what_is_left_alive():
    memory = training_step().memory
    assert [block.bytes for block in memory.still_alive()] == [50_000, 40_000]
    assert [block.bytes for block in memory.alive_at(6000)] == [50_000, 40_000, 40_000]


def test_its_text_and_data_frame():
    pytest.importorskip("pandas")
    by_op = training_step().memory.by_op()
    assert repr(by_op).splitlines()[0] == "234.4 KiB allocated at 0.003 ms, by op"
    assert repr(by_op).splitlines()[2].split()[:6] == ["136.7", "KiB", "58.3%", "2", "linear",
                                                       "net.fc"]  # fmt: skip
    assert by_op.to_pandas()["bytes"].sum() == 240_000
    assert "<table>" in by_op._repr_html_()


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (10 * 1024, "10.0 KiB"),
     (1024**2 - 1, "1.00 MiB"), (1536 * 1024**2, "1.50 GiB"), (-2048, "-2.00 KiB")],
)  # fmt: skip
def test_sizes_have_a_unit_that_suits(size_bytes, text):
    assert size_text(size_bytes) == text


def test_moments():
    assert moment_text(-1) == "before the trace"
    assert moment_text(12_345_678) == "at 12.346 ms"
