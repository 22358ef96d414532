"""A trace keeps at most its limit of allocations, and its running total stays correct."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.capture.limit import limiter
from paddle_lab.capture.memory import capture as memory_capture
from paddle_lab.capture.memory.capture import OPEN_CAPTURES, MemoryCapture
from paddle_lab.trace.limit import ALLOCATIONS_PER_OP, Keep
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS
from paddle_lab.words import say
from tests.capture.memory.running_total import RunningTotal

Work = Callable[[int], None]


def train(steps: int) -> None:
    """Train a small network whose fourth batch is larger than the others."""
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 1))
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    for step in range(steps):
        x = paddle.to_tensor([[0.1 * step, 0.2, 0.3]] * (90 if step == 3 else 5))
        net(x).mean().backward()
        optimizer.step()
        optimizer.clear_grad()


def leak(steps: int) -> None:
    """Keep one small tensor per step, and free a tensor that an earlier step kept."""
    kept: list[Any] = []
    for step in range(steps):
        x = paddle.full([step % 7 + 1, 9], 1.0)
        kept.append((x * x + x).sum(axis=1))
        if step % 5 == 4:
            kept = kept[3:]
        paddle_lab.step()


def gather(steps: int) -> None:
    """Make many tensors for each op."""
    for step in range(steps):
        paddle.concat([paddle.to_tensor([float(step + part)] * 7) for part in range(9)])


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let traces forget often."""
    monkeypatch.setattr(limiter, "_FIRST_SETTLE_OPS", 10)
    monkeypatch.setattr(limiter, "_LEAST_SURPLUS", 5)
    monkeypatch.setattr(memory_capture, "_LEAST_SURPLUS", 5)
    monkeypatch.setattr(memory_capture, "_SETTLE_EVENTS", 40)


def both(work: Work, steps: int, limit: int, keep: Keep) -> tuple[Record, Record, MemoryCapture]:
    gc.collect()  # what other tests left must not go in only one of them
    with (
        paddle_lab.memory(limit=None) as whole,
        paddle_lab.memory(limit=limit, keep=keep) as limited,
    ):
        capture = OPEN_CAPTURES[-1]
        work(steps)
        gc.collect()  # nor what this left when only one of them has ended
    assert [one for one in limited.record.origin.notices if "fault" in one] == []
    return whole.record, limited.record, capture


def is_sum(record: Record) -> Any:
    scopes = record.scopes
    names = [record.text(int(name)) for name in scopes["name"]]
    is_sum = [*map(say("notices.limit.other_blocks").__eq__, names), False]
    assert is_sum[:-1] == (scopes["kind"] == SCOPE_KINDS.index("sum")).tolist()
    return np.array(is_sum)[record.allocations["scope"]]


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("work", [train, leak, gather])
@pytest.mark.parametrize("keep", ["newest", "steps"])
@pytest.mark.parametrize(("steps", "limit"), [(9, 13), (40, 1), (40, 13), (40, 40), (40, 90)])
def test_the_total_is_as_high_as_it_was(work: Work, keep: Keep, limit: int, steps: int) -> None:
    whole, limited, capture = both(work, steps, limit, keep)
    offset_ns = int(whole.ops["start_ns"][-1] - limited.ops["start_ns"][-1])
    sums = is_sum(limited)
    blocks, all_blocks = limited.allocations, whole.allocations
    made = ~sums & (blocks["start_ns"] >= 0)
    most = max(limit * ALLOCATIONS_PER_OP, int((made & (blocks["end_ns"] < 0)).sum()))
    assert made.sum() <= most
    in_all = int((all_blocks["start_ns"] >= offset_ns).sum())
    assert made.sum() + capture.held.forgotten == in_all
    assert bool(capture.held.forgotten) == (in_all > limit * ALLOCATIONS_PER_OP)
    known = set(zip(*(all_blocks[name].tolist() for name in COLUMNS), strict=True))
    for row in np.flatnonzero(made).tolist():
        address, size, start_ns, end_ns = (int(blocks[name][row]) for name in COLUMNS)
        end_ns += offset_ns if end_ns >= 0 else 0
        assert (address, size, start_ns + offset_ns, end_ns) in known

    before = blocks["address"][~sums & (blocks["start_ns"] < 0)]
    assert np.isin(before, all_blocks["address"][all_blocks["start_ns"] < offset_ns]).all()

    true, told = RunningTotal(whole), RunningTotal(limited)
    first_ns = int(capture.start_ns) - offset_ns
    assert told.peak_bytes == true.peak_bytes
    assert told.end_bytes == true.end_bytes == true.counted_end_bytes
    peak_ns = [int(total.times_ns[int(total.totals.argmax())]) for total in (told, true)]
    assert peak_ns[0] + offset_ns == peak_ns[1]
    times_ns = true.times_ns[true.times_ns >= offset_ns]
    exact = times_ns[~capture.held.highs.is_covered(times_ns + first_ns)]
    assert len(exact) or limit == 1
    for time_ns in exact.tolist():
        assert told.at(time_ns - offset_ns) == true.at(time_ns)
    for row in np.flatnonzero(sums).tolist():
        stretch = [int(blocks[name][row]) for name in ("start_ns", "end_ns")]
        assert highest(told, *stretch) == highest(true, *(time + offset_ns for time in stretch))


COLUMNS = ("address", "bytes", "start_ns", "end_ns")


def highest(total: RunningTotal, start_ns: int, end_ns: int) -> int:
    inside = (total.times_ns > start_ns) & (total.times_ns < end_ns)
    return max([total.at(start_ns), *(total.at(int(time)) for time in total.times_ns[inside])])


@pytest.mark.usefixtures("_soon")
def test_it_says_what_was_left_out() -> None:
    whole, limited, _ = both(train, 40, 20, "newest")
    made = int((whole.allocations["start_ns"] >= 0).sum())
    kept = int((~is_sum(limited) & (limited.allocations["start_ns"] >= 0)).sum())
    (notice,) = [one for one in limited.origin.notices if "allocations were made" in one]
    begin = f"{made:,} allocations were made, and the trace keeps {kept}: those freed last"
    assert notice.startswith(begin)
    assert 500 < made <= 1000
    assert notice.endswith(" limit=200 (--limit 200) keeps all allocations.")
    assert whole.origin.notices == []


@pytest.mark.usefixtures("_soon")
def test_it_holds_little_while_it_runs() -> None:
    held = []
    with paddle_lab.memory(limit=20):
        (capture,) = OPEN_CAPTURES
        for _ in range(60):
            train(2)
            # Networks are cycles. What is still allocated is held, and when garbage is collected
            # by itself depends on what else the process has made.
            gc.collect()
            held.append((len(capture.held), len(capture.held.runs), len(capture.backward_spans)))
    events, runs, spans = (max(column) for column in zip(*held, strict=True))
    assert 100 < events < 600
    assert runs < 150
    assert spans < 15


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("keep", ["newest", "steps"])
def test_steps_are_compared_where_all_blocks_are(keep: Keep) -> None:
    gc.collect()
    with paddle_lab.memory(limit=60, keep=keep) as trace:
        train(30)
    assert 2 < len(trace.record.steps) < 30
    assert not len(trace.memory.growth())


@pytest.mark.usefixtures("_soon")
def test_of_steps_the_blocks_are_kept_in_which_their_ops_are() -> None:
    _, limited, _ = both(train, 40, 100, "steps")
    starts, sums = limited.allocations["start_ns"], is_sum(limited)
    for op in range(len(limited.ops)):
        begin = int(limited.ops["start_ns"][op])
        inside = (starts >= begin) & (starts < begin + limited.ops["duration_ns"][op])
        assert not (inside & sums).any()
    has_op = limited.allocations["op"] >= 0
    assert has_op[~sums & (starts >= 0)].mean() > 0.5


def test_less_than_the_limit_is_all_kept() -> None:
    whole, limited, _ = both(train, 3, 1000, "newest")
    assert limited.origin.notices == []
    assert len(limited.allocations) == len(whole.allocations)
    assert not is_sum(limited).any()


def test_memory_ends_with_the_first_ops() -> None:
    x = paddle.rand([64])
    with paddle_lab.memory(limit=2, keep="first") as trace:
        a = x + x
        b = a * a
        c = paddle.concat([a, b] * 50)
    assert [op.name for op in trace.ops] == ["add", "multiply"]
    notice = trace.record.origin.notices[0]
    assert notice.startswith("Memory is recorded for the first 0.")
    assert "and ops after that are not in it. " in trace.record.origin.notices[1]
    assert trace.memory.is_partial
    assert trace.memory.end_bytes - trace.memory.start_bytes == (64 + 64 + 6400) * 4
    assert "at least" in trace.memory.one_line()
    assert len(trace.memory.still_alive()) <= 3
    del c
