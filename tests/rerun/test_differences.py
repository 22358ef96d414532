"""``paddle_lab.rerun`` names what differed between two runs, and nothing else."""

from __future__ import annotations

import random
import threading
import time

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.capture.rerun.comparison import EXTERNAL, differences
from tests.models import MODELS
from tests.rerun.alarms import alarms


class Jitter(paddle.nn.Layer):
    """Adds what the clock says."""

    def forward(self, x):
        y = x * 2.0
        return y + time.perf_counter()


class OwnGenerator(paddle.nn.Layer):
    def forward(self, x):
        noise = np.random.default_rng().standard_normal(x.shape)
        return x + paddle.to_tensor(noise.astype("float32"))


def test_a_clock_in_a_layer_is_named():
    layer, x = Jitter(), paddle.ones([3])
    trace = paddle_lab.rerun(lambda: layer(x).sum())
    (finding,) = trace.findings
    assert finding.kind == "nondeterminism"
    assert "perf_counter" in finding.code
    assert [mark.role for mark in finding.marks] == ["origin", "path"]
    # A notebook shows the comparison with the second run.
    found = trace.comparison
    assert (found.first.name, found.first.state) == ("add", "different")
    assert "perf_counter" in found.first.frame.text
    assert found.first.reason.startswith(f"Attributes were {trace.ops[1].attributes}, now ")
    assert found.b is trace
    assert [row.state for row in found.rows] == ["equal", "different", "different"]
    assert [each.message for each in found.findings] == [finding.message]


def test_a_generator_of_ones_own_is_named_where_its_numbers_become_a_tensor():
    layer, x = OwnGenerator(), paddle.ones([3])
    (finding,) = paddle_lab.rerun(lambda: layer(x).sum(), check="nondeterminism").findings
    assert "paddle.to_tensor(noise" in finding.code


def test_what_a_thread_leaves_in_the_race_is_named():
    x = paddle.ones([3])
    state = {"scale": 1.0}
    stop = threading.Event()

    def disturb():
        while not stop.is_set():
            state["scale"] = time.perf_counter()  # no seed brings it back
            time.sleep(0.001)

    def step():
        found = state["scale"]
        while state["scale"] == found:  # the thread has its turn, however busy the machine is
            time.sleep(0.001)
        return x * state["scale"]

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        (finding,) = paddle_lab.rerun(step, check="nondeterminism").findings
    finally:
        stop.set()
        thread.join()
    assert "state[" in finding.code


def test_threads_that_take_turns_are_not_compared():
    x, turns = paddle.ones([3]), (threading.Semaphore(1), threading.Semaphore(0))

    def work(mine):
        for _ in range(2):
            turns[mine].acquire()
            _ = x * (mine + 2.0)
            turns[1 - mine].release()

    def step():
        threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    trace = paddle_lab.rerun(step, check="nondeterminism")
    assert list(trace.findings) == []
    (notice,) = trace.record.origin.notices
    assert "several threads called ops" in notice


def test_threads_one_after_the_other_are_compared():
    x = paddle.ones([3])

    def work():
        _ = x * time.perf_counter()

    def step():
        y = x + 1.0
        for _ in range(2):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        return y * 2.0

    trace = paddle_lab.rerun(step, check="nondeterminism")
    assert trace.record.origin.notices == []
    assert "perf_counter" in trace.findings[0].code


def test_another_path_is_named():
    x = paddle.ones([3])
    choices = np.random.default_rng  # a new generator each time

    def step():
        total = x * 1.0
        for _ in range(int(choices().integers(5, 1_000))):
            total = total + x
        return total

    (finding,) = paddle_lab.rerun(step, check="nondeterminism").findings
    assert "called different ops" in finding.message


def test_the_generators_of_a_process_are_no_difference():
    own, numpys = random.Random(), np.random.default_rng()

    def step():
        x = paddle.rand([3]) * random.random() * np.random.rand() * own.random()
        return paddle.nn.functional.dropout(x * float(numpys.random()))

    assert alarms(paddle_lab.rerun(step)) == []


@pytest.mark.parametrize(
    "name", ["lenet", "lstm", "transformer_encoder", "gan", "autoencoder", "in_place"]
)
def test_a_healthy_step_gives_the_same_twice(name):
    step = MODELS[name]()
    step()
    trace = paddle_lab.rerun(step)
    assert alarms(trace) == [], "\n".join(map(str, trace.findings))
    assert trace.record.origin.notices == []
    assert trace.comparison.first is None


def test_other_values_shapes_and_dtypes_that_no_op_made_are_differences():
    x = paddle.arange(6, dtype="float32")
    strided = x.reshape([3, 2]).transpose([1, 0])
    changed = [x + 1, x.reshape([2, 3]), x.astype("int32"), x.astype("bfloat16"), x[:5], x[:0]]

    def record(tensor):
        with paddle_lab.trace(digest=True) as trace:
            tensor.sum()
        return trace.record

    found = [differences(record(x), record(other)) for other in changed]
    assert all((0, 0, EXTERNAL) in each for each in found)
    assert differences(record(x), record(x.clone())) == []
    assert differences(record(strided), record(paddle.to_tensor(strided.numpy()))) == []
