"""Host time adds up to the time of the cell, and no time counts twice."""

from __future__ import annotations

import threading
import time

import numpy as np
import paddle
import pytest
from paddle.autograd import PyLayer
from paddle.distributed.fleet.utils import recompute

import paddle_lab
from paddle_lab.analysis.source.stacks import stack_of
from paddle_lab.analysis.time.spans import host_time


class Double(PyLayer):
    @staticmethod
    def forward(_context, x):
        return x + x

    @staticmethod
    def backward(_context, gradient):
        return gradient + gradient


def net(width: int = 64):
    return paddle.nn.Sequential(
        paddle.nn.Linear(width, width), paddle.nn.ReLU(), paddle.nn.Linear(width, width)
    )


def training():
    model = net()
    adam = paddle.optimizer.Adam(parameters=model.parameters())
    for _ in range(10):
        model(paddle.randn([16, 64])).mean().backward()
        adam.step()
        adam.clear_grad()


def sleeping():
    y = paddle.ones([4])
    time.sleep(0.05)
    (y + 1).sum()


def nothing():
    time.sleep(0.02)


def data_loading():
    class Slow(paddle.io.Dataset):
        def __getitem__(self, index):
            time.sleep(0.002)
            return np.full((8,), index, "float32")

        def __len__(self):
            return 12

    model = net(8)
    for batch in paddle.io.DataLoader(Slow(), batch_size=4):
        model(batch[0] if isinstance(batch, list) else batch).mean().backward()


def recomputing():
    model, x = net(), paddle.randn([16, 64])
    x.stop_gradient = False
    for _ in range(3):
        recompute(model, x).mean().backward()


def pylayers():
    x = paddle.randn([32])
    x.stop_gradient = False
    for _ in range(5):
        Double.apply(Double.apply(x)).sum().backward()


def second_order():
    x = paddle.randn([32])
    x.stop_gradient = False
    (gradient,) = paddle.grad((x**3).sum(), x, create_graph=True)
    gradient.sum().backward()


def threads():
    def work():
        x = paddle.ones([64, 64])
        for _ in range(30):
            x = x @ x * 0.01

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    work()
    for worker in workers:
        worker.join()


def only_threads():
    worker = threading.Thread(target=training)
    worker.start()
    worker.join()


def raising():
    with pytest.raises(ValueError, match="dimension"):
        paddle.ones([2, 3]) @ paddle.ones([2, 3])
    time.sleep(0.01)


def evaluating():
    model = net()
    model.eval()
    with paddle.no_grad():
        for _ in range(20):
            float(model(paddle.randn([16, 64])).mean())


def recurrent():
    lstm = paddle.nn.LSTM(16, 16)
    out, _ = lstm(paddle.randn([2, 20, 16]))
    out.mean().backward()


PROGRAMS = (
    training, sleeping, nothing, data_loading, recomputing, pylayers, second_order, threads,
    only_threads, raising, evaluating, recurrent,
)  # fmt: skip


def measured(program):
    """Return the record of a program, and two measured times: inside the trace and around it."""
    around_ns = -time.perf_counter_ns()
    with paddle_lab.trace() as trace:
        inside_ns = -time.perf_counter_ns()
        program()
        inside_ns += time.perf_counter_ns()
    around_ns += time.perf_counter_ns()
    return trace.view_record, (inside_ns, around_ns)


@pytest.mark.parametrize("program", PROGRAMS)
def test_self_times_and_the_rest_add_up_to_the_cell(program):
    program()  # Paddle loads things when they are used first
    record, (inside_ns, around_ns) = measured(program)
    host = host_time(record)
    in_ops = host.spans.self_ns[host.spans.thread == 0].sum()
    assert host.is_complete
    assert in_ops + host.outside_ns + host.own_ns == host.wall_ns
    assert inside_ns <= host.wall_ns <= around_ns
    assert np.all(host.spans.self_ns >= 0)
    assert 0 < host.own_ns < host.wall_ns


def test_a_sleep_is_outside_of_ops_below_the_line_that_called_it():
    record, _ = measured(sleeping)
    gaps = host_time(record).gaps
    outside_ns = gaps.end_ns - gaps.start_ns - gaps.own_ns
    longest = int(outside_ns.argmax())
    assert outside_ns[longest] >= 50e6
    inner = stack_of(record, int(gaps.stack[longest]))[0]
    assert inner.text == "program()"


def test_backward_is_in_paddle_and_its_ops_are_not_counted_twice():
    record, _ = measured(pylayers)
    spans = host_time(record).spans
    calls = np.flatnonzero(spans.backward_call >= 0)
    assert len(calls) == 5
    inside = np.isin(spans.parent, calls)
    assert np.count_nonzero(inside) == 10  # two PyLayers a turn, one op in the backward of each
    total, inner = spans.total_ns[calls].sum(), spans.total_ns[inside].sum()
    assert spans.self_ns[calls].sum() == total - inner
    outer = (spans.op >= 0) & (record.ops["is_pylayer"][spans.op] == 1)
    assert np.all(spans.self_ns[outer] < spans.total_ns[outer])


def test_a_gradient_counts_once_as_op_and_call():
    record, _ = measured(second_order)
    spans = host_time(record).spans
    assert np.count_nonzero(spans.op < 0) == 1
    assert np.count_nonzero(spans.backward_call >= 0) == 2
    names = [record.text(int(record.ops["name"][op])) for op in spans.op if op >= 0]
    assert names.count("paddle.grad") == 1


def test_a_limited_trace_does_not_know_what_is_outside():
    with paddle_lab.trace(limit=20) as trace:
        training()
    host = host_time(trace.view_record)
    assert (host.outside_ns, host.own_ns) == (None, None)
