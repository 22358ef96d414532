"""Recording memory leaves Paddle unchanged, and yields to other profilers."""

from __future__ import annotations

import gc
import os
import signal
import threading
from copy import copy

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.analysis.source.stacks import stack_frames
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.limit import limiter
from paddle_lab.capture.memory import assembly as memory_assembly
from paddle_lab.capture.memory import capture as memory_capture
from paddle_lab.capture.memory.log import reading
from paddle_lab.capture.memory.log.allocator_log import ALLOCATOR_LOG
from paddle_lab.capture.memory.log.events import COLUMNS, NOT_READ
from tests.capture.memory.kept_segments import keep_segments
from tests.capture.memory.running_total import RunningTotal, rows

FLAGS = ["FLAGS_host_trace_level", "FLAGS_enable_record_memory"]
FLOAT = 4


@pytest.fixture(autouse=True, scope="module")
def _what_paddles_profiler_wraps_for_good():
    with a_profiler():
        pass


@pytest.fixture(autouse=True)
def _nothing_goes_on():
    before = paddle.get_flags(FLAGS)
    yield
    assert paddle.get_flags(FLAGS) == before
    assert not ALLOCATOR_LOG.is_recording


def nodes_of(profiler):
    pending = list(profiler.profiler_result.get_data().values())
    for node in pending:
        pending.extend(node.children_node)
    return pending


def count_allocations(profiler):
    # Frees depend on what garbage earlier tests have left.
    events = [event for node in nodes_of(profiler) for event in node.mem_node]
    return sum(event.increase_bytes > 0 for event in events)


def a_profiler():
    return paddle.profiler.Profiler(
        targets=[paddle.profiler.ProfilerTarget.CPU],
        profile_memory=True,
        on_trace_ready=lambda _: None,
    )


def run_in_thread(op, *args):
    thread = threading.Thread(target=op, args=args)
    thread.start()
    thread.join()


def test_a_profiler_of_the_users_gets_what_it_would_get():
    data = paddle.rand([3, 5])
    with paddle_lab.memory() as trace:
        ours = data + data
        with a_profiler() as profiler:
            theirs = ours + data
        last = theirs + data
    assert count_allocations(profiler) == 1
    assert len(rows(trace.record, bytes=ours.size * FLOAT, op_name="add")) == 1
    (notice,) = trace.record.origin.notices
    assert "paddle.profiler" in notice
    assert len(trace.ops) == 3
    assert last.size == 15


def test_without_the_profiler_there_are_ops_and_a_sentence():
    data = paddle.rand([3, 5])
    with a_profiler() as profiler, paddle_lab.memory() as trace:
        total = data + data
    assert count_allocations(profiler) == 1
    assert total.size == 15
    assert [op.name for op in trace.ops] == ["add"]
    assert len(trace.record.allocations) == 0
    (notice,) = trace.record.origin.notices
    assert "No memory is recorded" in notice


def test_a_log_that_cannot_open_keeps_nothing():
    with a_profiler(), paddle_lab.trace(profile=True) as trace:
        paddle.rand([3, 5])
    assert len(trace.record.origin.notices) == 1
    assert not ALLOCATOR_LOG.keeps_grad_nodes


def test_an_inner_trace_sees_its_part_and_the_outer_one_all():
    data = paddle.rand([3, 5])
    with paddle_lab.memory() as outer:
        first = paddle.exp(data)
        with paddle_lab.memory() as inner:
            second = paddle.sin(first)
        third = paddle.cos(second)
    names = [{row["op_name"] for row in rows(t.record) if row["op"] >= 0} for t in (outer, inner)]
    assert names == [{"exp", "sin", "cos"}, {"sin"}]
    # For the inner trace, the tensor that its op reads is from before the trace.
    assert [row["kind"] for row in rows(inner.record, start_ns=-1)] == ["input"]
    for trace in (outer, inner):
        total = RunningTotal(trace.record)
        assert total.end_bytes == total.counted_end_bytes
    assert third.size == 15


def test_an_exception_ends_a_trace_that_can_be_read():
    kept = None

    def work():
        nonlocal kept
        kept = paddle.exp(paddle.rand([3, 5]))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), paddle_lab.memory() as trace:
        work()
    assert len(rows(trace.record, op_name="exp", end_ns=-1)) == 1
    assert kept.size == 15


def test_running_out_of_memory_ends_a_trace_that_can_be_read():
    kept = []
    with pytest.raises((MemoryError, RuntimeError, SystemError)), paddle_lab.memory() as trace:
        kept.extend(paddle.ones([size]) for size in (1000, 1 << 44))
    assert len(rows(trace.record, bytes=1000 * FLOAT, end_ns=-1)) == 1
    total = RunningTotal(trace.record)
    assert total.end_bytes == total.counted_end_bytes
    assert "emory" in trace.record.origin.exception


def test_a_failing_backward_stops_nothing():
    data = paddle.rand([3, 5])
    data.stop_gradient = False
    with paddle_lab.memory() as trace:
        changed = paddle.exp(data)
        result = (changed * changed).sum()
        changed.add_(changed.detach())
        with pytest.raises(RuntimeError):
            result.backward()
        after = paddle.sin(data)
    assert len(rows(trace.record, op_name="sin")) == 1
    total = RunningTotal(trace.record)
    assert total.end_bytes == total.counted_end_bytes
    assert after.size == 15


def test_each_thread_owns_what_it_allocates():
    data = paddle.rand([3, 5])
    made = {}

    def work(name, op):
        made[name] = [op(data) for _ in range(20)]

    with paddle_lab.memory() as trace:
        threads = [
            threading.Thread(target=work, args=(name, getattr(paddle, name)))
            for name in ("exp", "sin")
        ]
        for thread in threads:
            thread.start()
        work("cos", paddle.cos)
        for thread in threads:
            thread.join()
    record = trace.record
    by_op = {name: rows(record, op_name=name) for name in ("exp", "sin", "cos")}
    assert {name: len(found) for name, found in by_op.items()} == {"exp": 20, "sin": 20, "cos": 20}
    for found in by_op.values():
        threads_of_ops = {int(record.ops["thread"][row["op"]]) for row in found}
        assert {row["thread"] for row in found} == threads_of_ops
        assert len(threads_of_ops) == 1


def test_what_is_moved_before_its_op_is_still_the_ops(monkeypatch):
    data = paddle.rand([3, 5])
    time, thread, count, size = map(
        COLUMNS.index, ("time_ns", "thread", "allocated_bytes", "bytes")
    )
    counted = reading.in_counted_order

    def counted_early(table):
        """Let the main thread's last event count the event of the other thread after it."""
        by_time = np.argsort(table[:, time])
        if len(set(table[:, thread])) > 1:
            before, last = by_time[-2:]
            assert table[before, thread] != table[last, thread]
            table[before, count] += table[last, size]
        return counted(table)

    monkeypatch.setattr(reading, "in_counted_order", counted_early)
    go, made = threading.Event(), []

    def work():
        go.wait()
        made.append(paddle.sin(data))

    with paddle_lab.memory() as trace:
        other = threading.Thread(target=work)
        other.start()
        made += [paddle.exp(data) for _ in range(3)]
        go.set()
        other.join()
    record = trace.record
    (row,) = rows(record, op_name="sin")
    assert row["thread"] == record.ops["thread"][row["op"]]
    assert 0 <= row["start_ns"] < record.ops["start_ns"][row["op"]]


def test_a_thread_has_an_event_before_its_first_op(monkeypatch):
    # Paddle breaks its list of threads if two ops of new threads record their first events at once.
    segments = keep_segments(monkeypatch)
    data = paddle.rand([3, 5])
    with paddle_lab.memory():
        for _ in range(3):  # Python uses the id of an ended thread again
            run_in_thread(paddle.exp, data)
            paddle.sin(data)
    trees = [tree for segment in segments for tree in segment.result.get_data().values()]
    first = [tree.children_node[0].name for tree in trees if tree.children_node]
    assert first.count("thread") == 4


def test_a_new_thread_adds_no_event_to_a_profiler_of_the_users():
    data = paddle.rand([3, 5])
    with paddle_lab.memory():
        run_in_thread(paddle.exp, data)
        with a_profiler() as profiler:
            run_in_thread(paddle.sin, data)
    names = {node.name for node in nodes_of(profiler)}
    assert "thread" not in names
    assert len(names) > 1


def test_a_forked_process_does_not_wait_for_the_log():
    data = paddle.rand([3, 5])
    locked, done = threading.Event(), threading.Event()

    def hold():
        with ALLOCATOR_LOG._lock:
            locked.set()
            done.wait()

    with paddle_lab.memory():
        run_in_thread(paddle.exp, data)
        holder = threading.Thread(target=hold)
        holder.start()
        locked.wait()
        child = os.fork()
        if not child:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(10)
            ALLOCATOR_LOG.introduce_thread()
            os._exit(7)
        done.set()
        holder.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_thread_that_starts_another_has_its_first_event_before():
    with paddle_lab.memory():
        run_in_thread(lambda _: None, None)
        assert threading.get_native_id() in ALLOCATOR_LOG._introduced


def test_a_fault_of_a_new_threads_event_ends_only_the_log(monkeypatch):
    class Fault:
        def end(self):
            raise ValueError("no event")

    monkeypatch.setattr(DOOR, "record_event", lambda *_: Fault(), raising=False)
    data = paddle.rand([3, 5])
    with paddle_lab.memory() as trace:
        run_in_thread(paddle.exp, data)
        paddle.sin(data)
    assert [op.name for op in trace.ops] == ["exp", "sin"]
    assert any("no event" in notice for notice in trace.record.origin.notices)


def test_threads_one_after_the_other_own_what_they_allocate():
    data = paddle.rand([3, 5])
    names = ("exp", "sin", "cos")

    with paddle_lab.memory() as trace:
        for name in names:
            thread = threading.Thread(target=lambda op: op(data), args=(getattr(paddle, name),))
            thread.start()
            thread.join()

    record = trace.record
    for name in names:
        (row,) = rows(record, op_name=name)
        assert row["thread"] == record.ops["thread"][row["op"]]


def test_copies_name_their_lines():
    data = paddle.rand([3, 5])
    with paddle_lab.memory() as trace:
        copied = data.numpy()
        made = paddle.to_tensor(copied)
        turned = data.transpose([1, 0]).contiguous()
    record = trace.record
    users = stack_frames(record)
    new = [row for row in rows(record) if row["start_ns"] >= 0]
    made_at = [int(record.frames["line"][users[row["stack"]]]) for row in new]
    first = test_copies_name_their_lines.__code__.co_firstlineno
    assert made_at == [first + 3, first + 4, first + 5]
    # The last call copies the result of the transpose. No op made what the other calls copy.
    assert [row["op"] for row in new] == [-1, -1, 0]
    assert made.size == turned.size == 15


def test_steps_end_with_the_optimizers_or_where_they_are_said_to():
    layer = paddle.nn.Linear(3, 5)
    optimizer = paddle.optimizer.SGD(parameters=layer.parameters())
    data = paddle.rand([2, 3])
    with paddle_lab.memory() as trace:
        for _ in range(3):
            layer(data).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
    record = trace.record
    assert len(record.steps) == 3
    last_updates = [op for op in range(len(record.ops)) if trace.ops[op].name == "sgd_"][1::2]
    ends = record.ops["start_ns"] + record.ops["duration_ns"]
    assert record.steps["time_ns"].tolist() == ends[last_updates].tolist()
    paddle_lab.step()  # outside of a trace: nothing
    with paddle_lab.memory() as trace:
        for _ in range(2):
            optimizer.step()
            optimizer.step()
            paddle_lab.step()
    assert len(trace.record.steps) == 2


def test_ops_are_recorded_inside_backward_alone(monkeypatch):
    # Paddle takes time that grows with the square of the events to sort those of memory into ops.
    segments = keep_segments(monkeypatch)
    data = paddle.rand([3, 5])
    data.stop_gradient = False
    with paddle_lab.memory():
        paddle.exp(data).sum().backward()
        assert paddle.sin(data).size == 15
    roots = [list(segment.result.get_data().values()) for segment in segments]
    children = [sum(len(root.children_node) for root in of_segment) for of_segment in roots]
    assert len(children) == 3
    assert children[0] == children[2] == 0
    assert children[1] > 0


def test_a_fault_of_ours_costs_the_allocations_not_the_ops(monkeypatch):
    def fail(_):
        raise ArithmeticError("a fault made by hand")

    monkeypatch.setattr(memory_assembly, "pair_events", fail)
    with paddle_lab.memory() as trace:
        assert paddle.exp(paddle.ones([3, 5])).size == 15
    assert "exp" in [op.name for op in trace.ops]
    (notice,) = trace.record.origin.notices
    assert "a fault made by hand" in notice


def test_results_are_the_same_bit_for_bit():
    def run():
        paddle.seed(3)
        layer = paddle.nn.Linear(7, 5)
        loss = paddle.tanh(layer(paddle.rand([11, 7]))).mean()
        loss.backward()
        return loss.numpy().tobytes(), layer.weight.grad.numpy().tobytes()

    plain = run()
    with paddle_lab.memory():
        recorded = run()
    assert recorded == plain


def test_nothing_is_kept_alive():
    gc.collect()  # what other tests left behind must not go while this one counts
    before = paddle.base.core.host_memory_stat_current_value("Allocated", 0)
    layer = paddle.nn.Linear(7, 5)
    data = paddle.rand([11, 7])
    with paddle_lab.memory() as trace:
        layer(data).sum().backward()
    del layer, data
    assert paddle.base.core.host_memory_stat_current_value("Allocated", 0) == before
    assert len(trace.record.allocations) > 0


def test_on_a_host_alone_less_is_read_and_all_else_is_the_same(monkeypatch):
    both = []
    monkeypatch.setattr(limiter, "_FIRST_SETTLE_OPS", 100_000)
    read = memory_capture.read_segments

    def read_twice(found, **options):
        for has_devices in (False, True):
            events, _ = read([copy(segment) for segment in found], has_devices=has_devices)
            both.append(events)
        return read(found, **options)

    monkeypatch.setattr(memory_capture, "read_segments", read_twice)
    data = paddle.rand([3, 5])
    data.stop_gradient = False
    with paddle_lab.memory():
        for _ in range(3000):
            made = data + 1
        made.sum().backward()
    less, all_of_it = both
    for column in ("time_ns", "kind", "address", "bytes", "place", "thread", "segment"):
        assert getattr(less, column).tolist() == getattr(all_of_it, column).tolist()
    is_read = less.allocated_bytes != NOT_READ
    assert 64 < is_read.sum() < len(is_read) / 4
    assert less.allocated_bytes[is_read].tolist() == all_of_it.allocated_bytes[is_read].tolist()


@pytest.mark.parametrize("method", ["prepare", "start", "stop"])
def test_a_profiler_that_fails_ends_the_log_and_not_the_users_code(monkeypatch, method):
    flags = paddle.get_flags(FLAGS)
    with paddle_lab.memory() as trace:
        x = paddle.ones([3])
        x.stop_gradient = False
        y = (x * 2).sum()

        def fail(_profiler):
            raise RuntimeError("it is busy")

        monkeypatch.setattr(paddle.base.core._Profiler, method, fail)
        y.backward()
        z = x.grad * 3
    monkeypatch.undo()
    assert z.tolist() == [6, 6, 6]
    assert len(trace.ops) == 4
    (notice,) = trace.record.origin.notices
    assert notice.startswith("Memory is recorded for the first")
    assert "RuntimeError: it is busy" in notice
    assert paddle.get_flags(FLAGS) == flags
    with paddle_lab.memory() as trace:
        paddle.ones([3])
    assert not trace.record.origin.notices
    assert len(trace.allocations) >= 1


def test_the_profiler_is_not_stopped_and_read_more_often_than_its_events_need(monkeypatch):
    read = memory_capture.read_segments
    sizes = []

    def read_and_count(found, **options):
        events, runs = read(found, **options)
        sizes.append(len(events))
        return events, runs

    monkeypatch.setattr(memory_capture, "read_segments", read_and_count)
    monkeypatch.setattr(memory_capture, "_SETTLE_EVENTS", 5000)
    data = paddle.rand([4])
    with paddle_lab.memory():
        for _ in range(4000):  # two events each
            data + 1.0
    first, *later, _last = sizes
    assert first >= 2 * limiter._FIRST_SETTLE_OPS
    assert len(later) == 1
    assert later[0] > 0.9 * memory_capture._SETTLE_EVENTS
