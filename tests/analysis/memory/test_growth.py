"""Memory that grows from step to step, and the holders of what remains."""

from __future__ import annotations

import pytest

from paddle_lab.api import Trace
from tests.trace.records import RecordWriter

STEP_NS = 1000


def loop(steps: int, blocks) -> Trace:
    """Return a loop in which step ``i`` allocates ``blocks(i)``: line, size, steps it lives."""
    w = RecordWriter()
    for step in range(steps):
        for offset, (line, size, lives) in enumerate(blocks(step)):
            start_ns = step * STEP_NS + 10 + offset
            end_ns = -1 if lives is None else (step + lives) * STEP_NS + 500
            w.op(f"op{line}", line=line)
            w.allocation(size, op=len(w.tables["ops"]) - 1, start_ns=start_ns, end_ns=end_ns)
        w.step(step * STEP_NS + 900)
    return Trace(w.record())


def test_a_list_of_losses_is_a_leak():
    trace = loop(10, lambda _: [(3, 400, 0), (5, 64, None), (7, 4000, 1)])
    found = trace.memory.growth()
    (leak,) = found
    assert leak.where == "Cell 4, line 5"
    assert (leak.bytes_per_step, leak.total_bytes) == (64, 8 * 64)
    assert (leak.steps_grown, leak.steps_shrunk) == (8, 0)
    assert leak.ops == ["op5"]
    assert [block.bytes for block in leak.allocations] == [64] * 8
    assert (found.step_count, found.compared_count, found.bytes_per_step) == (10, 9, 64)
    assert "1 line grows over 8 steps; in all +64 B a step" in repr(found)
    assert "line 5" in found._repr_html_()


def test_what_the_first_step_makes_and_keeps_is_no_leak():
    def blocks(step):
        return [(2, 10_000, None)] if step == 0 else [(3, 400, 0)]

    assert not loop(8, blocks).memory.growth()


def test_what_is_made_once_and_late_is_no_leak():
    assert not loop(8, lambda step: [(2, 10_000, None)] if step == 4 else []).memory.growth()


def test_what_is_replaced_each_step_is_no_leak():
    assert not loop(12, lambda _: [(4, 4096, 1)]).memory.growth()


def test_two_optimizers_that_take_turns_are_no_leak():
    def blocks(step):
        return [(4, 4096, 1)] if step % 2 else [(6, 64, 0)]

    for steps in (6, 7, 10, 11):
        assert not loop(steps, blocks).memory.growth(), steps


def test_what_comes_and_goes_from_some_step_on_is_no_leak():
    trace = loop(12, lambda step: [(4, 4096, 1)] if step in (7, 9, 11) else [])
    assert not trace.memory.growth()


def test_what_came_and_went_and_then_stays_is_no_leak():
    trace = loop(14, lambda step: [(4, 4096, 1)] if step % 2 == 0 or step > 6 else [])
    assert not trace.memory.growth()


def test_batches_that_get_larger_are_no_leak():
    assert not loop(24, lambda step: [(4, 100 + 8 * step, 1)]).memory.growth()


def test_a_block_that_is_made_of_the_one_before_and_gets_larger_is_a_leak():
    w = RecordWriter()
    history = w.tensor("history")
    for step in range(12):
        start_ns = step * STEP_NS + 10
        scaled = w.op("scale", history, line=4)
        history = w.op("concat", scaled, w.tensor(), line=5)
        w.allocation(100 * step + 100, op=2 * step + 1, start_ns=start_ns,
                     end_ns=start_ns + STEP_NS)  # fmt: skip
        w.step(step * STEP_NS + 900)
    (leak,) = Trace(w.record()).memory.growth()
    assert (leak.where, leak.bytes_per_step) == ("Cell 4, line 5", 100)


def test_what_fills_up_and_is_full_is_no_leak():
    for steps in (6, 7, 8, 12):
        assert not loop(
            steps, lambda step: [(4, 500, None)] if step < 4 else [(4, 500, 0)]
        ).memory.growth(), steps


def test_a_leak_every_other_step_is_found():
    trace = loop(21, lambda step: [(4, 100, None)] if step % 2 else [(4, 8, 0)])
    (leak,) = trace.memory.growth()
    assert leak.bytes_per_step == pytest.approx(50, rel=0.1)
    assert leak.steps_grown == 9


def test_a_leak_beside_garbage_that_is_collected_now_and_then_is_found():
    trace = loop(30, lambda step: [(4, 10, None), (4, 100, 3 - step % 4)])
    assert [leak.where for leak in trace.memory.growth()] == ["Cell 4, line 4"]


def test_garbage_that_is_collected_now_and_then_is_no_leak():
    assert not loop(30, lambda step: [(4, 100, 3 - step % 4)]).memory.growth()


def test_a_small_leak_is_told_from_what_merely_lives_on_its_line():
    w = RecordWriter()
    for step in range(10):
        start_ns = step * STEP_NS + 10
        w.op("conv2d", line=5)
        w.allocation(9000 + 64 * (step % 3), op=2 * step, start_ns=start_ns,
                     end_ns=start_ns + STEP_NS)  # fmt: skip
        w.op("mean", line=5)
        w.allocation(4, op=2 * step + 1, start_ns=start_ns + 1)
        w.step(step * STEP_NS + 900)
    (leak,) = Trace(w.record()).memory.growth()
    assert (leak.bytes_per_step, leak.ops) == (4, ["mean"])
    assert {block.bytes for block in leak.allocations} == {4}


def test_ops_of_one_line_that_leak_are_one_row():
    def blocks(_step):
        return [(5, 64, None), (5, 100, None)]

    (leak,) = loop(9, blocks).memory.growth()
    assert leak.bytes_per_step == 164


def test_the_fastest_comes_first():
    trace = loop(9, lambda _: [(4, 100, None), (5, 300, None)])
    assert [leak.bytes_per_step for leak in trace.memory.growth()] == [300, 100]


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_too_few_steps_say_so(steps):
    trace = loop(max(steps, 1), lambda _: [(4, 100, None)])
    if steps == 0:
        w = RecordWriter()
        w.allocation(8)
        trace = Trace(w.record())
    found = trace.memory.growth()
    assert not found
    assert "needs at least four steps, and this trace has" in repr(found)
    assert "paddle_lab.step()" in repr(found)


def test_no_growth_says_so():
    assert repr(loop(6, lambda _: [(4, 9, 0)]).memory.growth()) == (
        "no line's memory grew over 4 steps"
    )


def test_a_leak_without_a_line_is_told():
    w = RecordWriter()
    for step in range(8):
        w.allocation(16, start_ns=step * STEP_NS)
        w.step(step * STEP_NS + 900)
    (leak,) = Trace(w.record()).memory.growth()
    assert (leak.frame, leak.where, leak.bytes_per_step) == (None, "", 16)
    assert "no line known" in repr(Trace(w.record()).memory.growth())


def test_a_data_frame_of_growth():
    pytest.importorskip("pandas")
    table = loop(9, lambda _: [(4, 100, None)]).memory.growth().to_pandas()
    assert table.loc[0, ["line", "bytes_per_step", "blocks"]].tolist() == [4, 100, 7]


def test_holders_are_gathered_by_name_largest_first():
    w = RecordWriter()
    small, large, other = (w.allocation(size, start_ns=size) for size in (10, 200, 300))
    elsewhere = w.allocation(999, start_ns=999, place="gpu:0")
    w.holder(small, "container", "cache.items[3]")
    w.holder(large, "variable", "x")
    w.holder(small, "variable", "x")
    w.holder(small, "variable", "x")
    w.holder(elsewhere, "output", "Out[5]")
    w.holder(-1, "unknown", "lost")
    assert other
    memory = Trace(w.record()).memory.on("cpu")
    x, cache = memory.holders()
    assert (x.name, x.kind, x.bytes, [block.bytes for block in x.allocations]) == (
        "x", "variable", 210, [200, 10],
    )  # fmt: skip
    assert (cache.name, cache.kind, cache.bytes) == ("cache.items[3]", "container", 10)
    assert [holder.name for holder in memory.on("gpu:0").holders()] == ["Out[5]"]
    assert "cache.items[3]" in repr(memory.holders())


def test_a_block_with_several_names_is_shown_once():
    w = RecordWriter()
    weight, other = (w.allocation(size, start_ns=size) for size in (200, 10))
    for name in ("net.weight", "optimizer._parameter_list[0]", "weights['w']"):
        w.holder(weight, "container", name)
    w.holder(other, "variable", "x")
    trace = Trace(w.record())
    shown = repr(trace.memory.holders())
    assert "net.weight (+2 names)" in shown
    assert "optimizer" not in shown
    assert "held at the end by net.weight (+2 names) 200 B, x 10 B" in trace.summary()


def test_nobody_holds_anything():
    w = RecordWriter()
    w.allocation(8)
    assert (
        repr(Trace(w.record()).memory.holders())
        == "no holders: none were searched for, or nothing is held"
    )


def test_what_the_notebook_keeps_comes_after_a_name_of_the_user():
    w = RecordWriter()
    weight = w.allocation(4000, kind="parameter")
    lost = w.allocation(400, kind="activation")
    w.holder(weight, "traceback", "weight in linear(), last traceback")
    w.holder(weight, "container", "net.fc.weight")
    w.holder(lost, "unknown", "")
    holders = Trace(w.record()).memory.holders()
    assert [name for name, _ in holders.alike()] == ["net.fc.weight (+1 name)", "no known holder"]
