"""``paddle_lab.rerun``: two runs of real Paddle code, compared op by op."""

from __future__ import annotations

import random
import sys
import threading
import time

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.capture.evidence.digests import UNKNOWN, digest_of
from paddle_lab.capture.rerun.fill import BYTES, filled, is_filled
from tests.models import MODELS
from tests.oracles import Bindings

ON_GLIBC = sys.platform.startswith("linux")


@pytest.fixture(autouse=True)
def _nothing_is_left_bound():
    bindings = Bindings()
    yield
    assert bindings.changed() == []


def kinds(trace):
    return [finding.kind for finding in trace.findings if finding.severity != "info"]


class Jitter(paddle.nn.Layer):
    """Adds what the clock says."""

    def forward(self, x):
        y = x * 2.0
        return y + time.perf_counter()


class OwnGenerator(paddle.nn.Layer):
    def forward(self, x):
        noise = np.random.default_rng().standard_normal(x.shape)
        return x + paddle.to_tensor(noise.astype("float32"))


class Counting(paddle.nn.Layer):
    """Keeps a count on itself, in its class, in a buffer and in a closure."""

    calls = 0

    def __init__(self):
        super().__init__()
        self.count = 0
        self.register_buffer("steps", paddle.zeros([1]))
        self.seen = []
        total = [0.0]

        def add(value):
            nonlocal total
            total = [total[0] + value]
            return total[0]

        self.add = add

    def forward(self, x):
        self.count += 1
        Counting.calls += 1
        self.steps.add_(paddle.ones([1]))
        self.seen.append(self.count)
        return x * self.count * Counting.calls * self.steps * self.add(1.0) * len(self.seen)


def test_a_clock_in_a_layer_is_named():
    layer, x = Jitter(), paddle.ones([3])
    trace = paddle_lab.rerun(lambda: layer(x).sum())
    (finding,) = trace.findings
    assert finding.kind == "nondeterminism"
    assert "perf_counter" in finding.code
    assert [mark.role for mark in finding.marks] == ["origin", "path"]


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
    x, turn = paddle.ones([3]), threading.Barrier(2)

    def work(scale):
        for _ in range(2):
            turn.wait()
            _ = x * scale

    def step():
        threads = [threading.Thread(target=work, args=(scale,)) for scale in (2.0, 3.0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    for _ in range(20):  # which of both comes first is up to the machine
        trace = paddle_lab.rerun(step, check="nondeterminism")
        if trace.record.ops["thread"].tolist() not in ([0, 0, 1, 1], [0, 1, 1, 0]):
            break
    assert list(trace.findings) == []
    (notice,) = trace.record.origin.notices
    assert "threads took turns at calling ops" in notice


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


def test_counts_wherever_they_are_kept_are_put_back():
    layer, x = Counting(), paddle.ones([2])
    Counting.calls = 0
    trace = paddle_lab.rerun(lambda: layer(x))
    assert trace.findings == []
    assert trace.record.origin.notices == []
    assert (layer.count, Counting.calls, float(layer.steps), layer.seen) == (1, 1, 1.0, [1])
    assert layer.add(0.0) == 1.0


def test_the_generators_of_a_process_are_no_difference():
    own, numpys = random.Random(), np.random.default_rng()

    def step():
        x = paddle.rand([3]) * random.random() * np.random.rand() * own.random()
        return paddle.nn.functional.dropout(x * float(numpys.random()))

    assert kinds(paddle_lab.rerun(step)) == []


@pytest.mark.skipif(not ON_GLIBC, reason="memory cannot be filled")
def test_unwritten_memory_is_named_and_what_is_written_in_time_is_not():
    def step():
        whole = paddle.empty([64])
        whole[:] = 1.0
        part = paddle.empty([64])
        part[:60] = 1.0
        unread = paddle.empty([64])
        return whole.sum() + part.max(), unread

    trace = paddle_lab.rerun(step, check="unwritten-output")
    (finding,) = trace.findings
    assert "part = paddle.empty" in finding.code
    assert "part.max()" in finding.message


@pytest.mark.skipif(not ON_GLIBC, reason="memory cannot be filled")
@pytest.mark.parametrize("byte", BYTES)
@pytest.mark.parametrize("size", [1, 100, 5_000, 3_000_000])
def test_new_memory_begins_with_the_byte(byte, size):
    assert is_filled(paddle)
    with filled(paddle, byte):
        made = paddle.empty([size], dtype="uint8")
    assert set(np.unique(made.numpy()).tolist()) == {byte}
    assert paddle.get_flags("FLAGS_alloc_fill_value") == {"FLAGS_alloc_fill_value": -1}


def test_where_memory_cannot_be_filled_it_is_said(monkeypatch):
    monkeypatch.setattr("paddle_lab.capture.rerun.fill._perturb", lambda: None)
    x = paddle.ones([2])
    trace = paddle_lab.rerun(lambda: x * 2, check="unwritten-output")
    (notice,) = trace.record.origin.notices
    assert "memory cannot be filled here" in notice


@pytest.mark.parametrize(
    "name", ["lenet", "lstm", "transformer_encoder", "gan", "autoencoder", "in_place"]
)
def test_a_healthy_step_gives_the_same_twice(name):
    step = MODELS[name]()
    step()
    trace = paddle_lab.rerun(step)
    assert kinds(trace) == [], "\n".join(map(str, trace.findings))
    assert trace.record.origin.notices == []


@pytest.mark.parametrize("name", ["lenet", "gan", "bfloat16", "recompute_reentrant"])
def test_a_step_leaves_what_it_leaves_without(name):
    def losses(*, again):
        paddle.seed(11)
        np.random.seed(11)
        random.seed(11)
        step = MODELS[name]()
        found = []

        def once():
            found.append(digests(step()))

        for _ in range(3):
            paddle_lab.rerun(once) if again else once()
        return found

    assert losses(again=True) == losses(again=False)


def digests(result):
    loss, gradients = result
    return [digest_of(tensor) for tensor in (loss, *gradients.values())]


def test_gradients_come_back_with_all_that_share_them():
    weight = paddle.create_parameter([3], "float32")
    (weight * 2).sum().backward()
    kept, before = weight.grad, weight.grad.numpy().tolist()
    address = kept.data_ptr()

    def step():
        (weight * 3).sum().backward()
        with paddle.no_grad():
            weight.grad.add_(paddle.ones([3]))

    def cleared():
        weight.clear_gradient(False)
        (weight * 5).sum().backward()

    assert kinds(paddle_lab.rerun(step)) == []
    assert weight.grad.numpy().tolist() == [value + 4 for value in before]
    assert kept.numpy().tolist() == weight.grad.numpy().tolist()
    assert kept.data_ptr() == weight.grad.data_ptr() == address
    assert kinds(paddle_lab.rerun(cleared)) == []
    assert weight.grad.numpy().tolist() == [5.0, 5.0, 5.0]


def test_a_graph_from_before_runs_after():
    weight = paddle.ones([3])
    weight.stop_gradient = False
    loss = (weight**2).sum()

    def step():
        with paddle.no_grad():
            return (weight.detach().clone() * 2).add_(paddle.ones([3]))

    paddle_lab.rerun(step)
    loss.backward()
    assert weight.grad.numpy().tolist() == [2.0, 2.0, 2.0]


def test_an_error_is_the_users_own_and_nothing_is_kept():
    def step():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        paddle_lab.rerun(step)


def test_a_second_run_that_fails_is_said_and_undone(tmp_path):
    x, runs = paddle.ones([2]), []
    path = tmp_path / "made_once"

    def step():
        x.add_(paddle.ones([2]))
        with path.open("x"):
            runs.append(x)
            return x * 2

    trace = paddle_lab.rerun(step, check="nondeterminism")
    (notice,) = trace.record.origin.notices
    assert "the second run ended in FileExistsError" in notice
    assert len(runs) == 1
    assert x.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    "part", ["state.states_of", "runs.differences", "contents.Contents.put_back"]
)
def test_a_fault_of_ours_is_a_sentence(monkeypatch, part):
    def fault(*args):
        raise LookupError("ours")

    monkeypatch.setattr(f"paddle_lab.capture.rerun.{part}", fault)
    x = paddle.ones([2])
    trace = paddle_lab.rerun(lambda: x * 2, check="nondeterminism")
    assert [op.name for op in trace.ops] == ["multiply"]
    (notice,) = trace.record.origin.notices
    assert "a fault in paddle_lab (LookupError: ours)" in notice
    assert x.tolist() == [1.0, 1.0]


def test_undefined_tensors_are_never_touched():
    assert digest_of(paddle.Tensor()) == UNKNOWN
    released = paddle.ones([2])
    released._clear_data()
    assert digest_of(released) == UNKNOWN
    holds = [paddle.Tensor(), released]

    def step():
        return len(holds), paddle.ones([2]) * 2

    assert kinds(paddle_lab.rerun(step)) == []


def test_digests_tell_values_shapes_and_dtypes_apart():
    x = paddle.arange(6, dtype="float32")
    alike = [x, x.clone(), x.reshape([2, 3]).transpose([1, 0]).transpose([1, 0]).reshape([6])]
    assert len({digest_of(one) for one in alike}) == 1
    others = [x + 1, x.reshape([2, 3]), x.astype("float64"), x.astype("bfloat16"), x[:5], x[:0]]
    assert len({digest_of(one) for one in [x, *others]}) == 7
    strided = x.reshape([2, 3]).transpose([1, 0])
    assert digest_of(strided) == digest_of(paddle.to_tensor(strided.numpy()))


def test_a_block_says_that_it_cannot_run_twice_only_where_it_was_asked_to():
    for check, count in (("nondeterminism", 1), (["unwritten-output"], 1), ("all", 0), (None, 0)):
        with paddle_lab.trace(check=check) as trace:
            paddle.ones([2])
        assert len(trace.record.origin.notices) == count
        assert "nondeterminism" not in trace.record.origin.checks


def test_a_wrong_option_is_answered():
    with pytest.raises(ValueError, match="did you mean 'nondeterminism'"):
        paddle_lab.rerun(lambda: None, check="nondeterminsm")
    with pytest.raises(TypeError, match="did you mean 'check'"):
        paddle_lab.rerun(lambda: None, chek="all")
