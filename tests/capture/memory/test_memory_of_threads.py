"""Memory is correct with other threads: a program's executor, a data loader, the user's own."""

from __future__ import annotations

import gc
import threading

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.io import DataLoader, Dataset

import paddle_lab
from paddle_lab.capture.memory import capture
from paddle_lab.capture.memory.counters import read_places
from tests.capture.memory.kept_segments import keep_segments
from tests.capture.memory.running_total import RunningTotal, rows
from tests.models import STATIC_MODELS

FLOAT = 4


class Images(Dataset):
    """Samples of a size that nothing else has."""

    def __getitem__(self, index):
        return np.full([17, 19], index, "float32")

    def __len__(self):
        return 12


BATCH_BYTES = 3 * 17 * 19 * FLOAT


@pytest.mark.parametrize("name", STATIC_MODELS)
def test_the_log_is_not_cut_while_an_executor_may_free(name, monkeypatch):
    step = STATIC_MODELS[name]()
    step()
    segments = keep_segments(monkeypatch)
    with paddle_lab.memory() as trace:
        step()
        step()
    # Before the first program, and from there to the end.
    assert len(segments) == 2
    assert trace.record.origin.notices == []
    total = RunningTotal(trace.record)
    assert total.end_bytes == total.counted_end_bytes
    in_backward = rows(trace.record, phase=1)
    assert in_backward
    assert all(row["node_name"] for row in in_backward)


def test_the_log_is_cut_no_more_when_another_thread_has_begun(monkeypatch):
    layers = [nn.Linear(5, 7), nn.Linear(7, 5)]

    def work(layer):
        for _ in range(3):
            layer(paddle.ones([2, layer.weight.shape[0]])).sum().backward()

    segments = keep_segments(monkeypatch)
    with paddle_lab.memory() as trace:
        for layer in layers:
            thread = threading.Thread(target=work, args=(layer,))
            thread.start()
            thread.join()
    assert len(segments) == 2
    # Python may give the second thread the identity of the first one.
    assert all(row["op_name"] for row in rows(trace.record) if row["start_ns"] >= 0)


def test_what_a_program_saves_for_its_backward_is_told_from_what_it_frees():
    widths = (13, 127, 3)
    layer = nn.Sequential(nn.Linear(*widths[:2]), nn.Tanh(), nn.Linear(*widths[1:]))
    network = paddle.jit.to_static(layer, full_graph=True)
    data = paddle.rand([7, widths[0]])
    network(data).sum().backward()
    with paddle_lab.memory() as trace:
        network(data).sum().backward()
    hidden = rows(trace.record, bytes=7 * widths[1] * FLOAT, phase=0)
    assert "saved_activation" in {row["kind"] for row in hidden}
    assert {row["kind"] for row in hidden} <= {"saved_activation", "temporary"}
    assert {row["op_name"] for row in hidden} == {"run_program"}


@pytest.mark.parametrize("workers", [0, 1])
def test_batches_are_the_line_s_that_asked_for_them_and_no_op_s(workers):
    layer = nn.Linear(19, 3)
    # Paddle's loader leaves each batch in a reference cycle. The collector may free it at any time,
    # also while a gradient is accumulated.
    collected: list[int] = []
    layer.bias.register_hook(lambda _: collected.append(len(collected) == 1 and gc.collect()))
    loader = DataLoader(Images(), batch_size=3, num_workers=workers, use_shared_memory=False)
    with paddle_lab.memory() as trace:
        for images in loader:
            layer(images).mean().backward()
    made = [
        block for block in trace.allocations if block.start_ns is not None
    ]  # not by other tests
    batches = [block for block in made if block.bytes == BATCH_BYTES]
    assert len(batches) == 4
    assert {block.kind for block in batches} == {"input"}
    assert {block.op for block in batches} == {None}
    line = test_batches_are_the_line_s_that_asked_for_them_and_no_op_s.__code__.co_firstlineno
    assert {block.frame.line - line for block in batches} == {9}


def test_batches_in_shared_memory_are_none_of_paddles_blocks():
    layer = nn.Linear(19, 3)
    loader = DataLoader(Images(), batch_size=3, num_workers=1, use_shared_memory=True)
    with paddle_lab.memory() as trace:
        for images in loader:
            layer(images).mean().backward()
    assert rows(trace.record, bytes=BATCH_BYTES) == []
    memory = trace.memory
    assert memory.by_kind().total_bytes == memory.peak_bytes


def test_arrays_of_others_are_none_of_paddles_blocks():
    values = np.ones(1001 + 16, "float32")
    # Where an array of NumPy's begins is chance: never at a page here.
    begin = 4 if values.ctypes.data % 4096 == 0 else 0
    shared = paddle.utils.dlpack.from_dlpack(values[begin : begin + 1001])
    with paddle_lab.memory() as trace:
        kept = [shared + 1 for _ in range(5)]
    assert len(kept) == 5
    assert shared.data_ptr() % 4096
    assert [row["kind"] for row in rows(trace.record, bytes=1001 * FLOAT)] == ["activation"] * 5
    assert trace.memory.by_kind().total_bytes == trace.memory.peak_bytes


@pytest.mark.parametrize("frees_first", [True, False])
def test_what_others_free_while_a_trace_begins_or_ends_counts_once(frees_first, monkeypatch):
    data, going = paddle.rand([7, 11]), [paddle.rand([1000])]
    times = iter(["begin", "end"])

    def read_and_free(paddle):
        # Another thread may do this between the profiler's start and the counter's reading.
        is_first = next(times) == "begin"
        if is_first and frees_first:
            going.clear()
        readings = read_places(paddle)
        if not is_first:
            going.clear()
        return readings

    monkeypatch.setattr(capture, "read_places", read_and_free)
    gc.collect()
    with paddle_lab.memory() as trace:
        made = data + 1
    total = RunningTotal(trace.record)
    assert total.end_bytes == total.counted_end_bytes
    assert trace.memory.end_bytes == total.counted_end_bytes
    assert len(rows(trace.record, bytes=4000)) == 1
    assert made.size == 77
