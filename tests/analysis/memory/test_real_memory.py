"""Answers about the memory of real Paddle programs."""

from __future__ import annotations

import gc
import json

import pytest

import paddle_lab
from paddle_lab.analysis.memory.memory import Memory
from tests.interchange.test_chrome_trace import check_shape, check_slices
from tests.interchange.test_memory_snapshot import check_segments, replayed, snapshot_of

paddle = pytest.importorskip("paddle")
models = pytest.importorskip("tests.models")
nn = paddle.nn


def check_sums(memory: Memory) -> None:
    for moment in (0, memory.peak_ns, memory.timeline.end_ns):
        total = memory.timeline.at(moment)
        for answer in (memory.by_op, memory.by_layer, memory.by_line, memory.by_kind):
            assert answer(moment).total_bytes == total, (answer, moment)
    assert memory.timeline.at(memory.peak_ns) == memory.peak_bytes
    found = memory.block_map()
    assert found.allocated_bytes + memory.unseen_bytes == memory.peak_bytes


@pytest.mark.parametrize("name", sorted(models.MODELS))
def test_answers_and_files_add_up_on_every_model(name, tmp_path):
    step = models.MODELS[name]()
    with paddle_lab.memory() as trace:
        step()
    memory = trace.memory
    check_sums(memory)
    assert memory.end_bytes == int(trace.record.memory_totals["allocated_bytes"][-1])
    assert repr(memory)
    assert trace.summary()
    snapshot = snapshot_of(trace, tmp_path)
    check_segments(snapshot)
    timeline = memory.timeline
    assert replayed(snapshot, 0) == [timeline.start_bytes, *timeline.allocated_bytes.tolist()]
    path = trace.to_chrome_trace(tmp_path / "trace.json")
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    check_shape(events)
    check_slices(events)


def train(keep, steps: int = 8):
    """Return the trace of a loop that hands every loss to ``keep``."""
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8))
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    x = paddle.rand([16, 64])
    with paddle_lab.memory() as trace:
        for _ in range(steps):
            loss = net(x).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            keep(loss, net)
    return trace


def test_a_training_loop_that_keeps_numbers_does_not_grow():
    history = []
    trace = train(lambda loss, _net: history.append(float(loss)))
    assert len(trace.record.steps) == 8
    assert not trace.memory.growth(), trace.memory.growth()


def test_a_step_of_two_optimizers_grows_once_not_at_each_optimizer():
    makes, judges = nn.Linear(8, 400), nn.Linear(400, 1)
    first = paddle.optimizer.Adam(parameters=makes.parameters())
    second = paddle.optimizer.Adam(parameters=judges.parameters())
    samples = []
    with paddle_lab.memory() as trace:
        for _ in range(6):
            made = makes(paddle.rand([50, 8]))
            judges(made.detach()).mean().backward()
            second.step()
            judges(made).mean().backward()
            first.step()
            samples.append(made)
            first.clear_grad()
            second.clear_grad()
    (line,) = trace.memory.growth()
    assert (line.bytes_per_step, line.steps_grown, len(samples)) == (50 * 400 * 4, 4, 6)


@pytest.mark.parametrize("turns", [3, 6])
def test_steps_of_a_discriminator_in_a_loop_belong_to_the_step_of_the_generator(turns):
    makes, judges = nn.Linear(8, 400), nn.Linear(400, 1)
    first = paddle.optimizer.Adam(parameters=makes.parameters())
    second = paddle.optimizer.Adam(parameters=judges.parameters())
    samples = []
    with paddle_lab.memory() as trace:
        for _ in range(turns):
            for _judge in range(3):
                made = makes(paddle.rand([50, 8]))
                samples.append(made.detach() + 0)
                judges(samples[-1]).mean().backward()
                second.step()
                second.clear_grad()
            judges(makes(paddle.rand([50, 8]))).mean().backward()
            first.step()
            first.clear_grad()
    (line,) = trace.memory.growth()
    # Three iterations are too few to compare, so each optimizer's step counts.
    assert len(trace.record.steps) == (6 if turns == 6 else 12)
    assert ("; a step is an iteration of a loop" in repr(trace.memory.growth())) is (turns == 6)
    if turns == 6:
        assert (line.bytes_per_step, line.steps_grown) == (3 * 50 * 400 * 4, 4)


def test_a_training_loop_that_keeps_what_it_computes_grows_at_that_line():
    kept = []
    trace = train(lambda _loss, net: kept.append(net(paddle.rand([16, 64])).detach() + 0))
    first, *_ = trace.memory.growth()
    assert first.bytes_per_step >= 16 * 8 * 4
    assert "kept.append" in first.frame.text


def test_a_step_has_parameters_optimizer_state_gradients_and_what_backward_needs():
    trace = train(lambda _loss, _net: None, steps=1)
    kinds = {block.kind for block in trace.allocations}
    assert {"parameter", "gradient", "optimizer_state", "saved_activation"} <= kinds
    layers = {share.label for share in trace.memory.by_layer()}
    assert {"0", "2"} <= {label.rpartition(".")[2] for label in layers}


def failure_of(code):
    """Return what was found when ``code`` ran out of memory."""
    # Paddle raises a PyLayer's failing backward as an OSError with the text of all.
    with (
        pytest.raises((MemoryError, OSError), match="ResourceExhausted"),
        paddle_lab.memory() as trace,
    ):
        code()
    return trace.memory.out_of_memory


def test_an_out_of_memory_error_is_answered():
    def too_much():
        kept = paddle.rand([256, 256])
        return paddle.empty([1 << 46]) + kept

    found = failure_of(too_much)
    assert found.requested_bytes == 1 << 48
    assert found.op.name == "empty"
    assert 256 * 256 * 4 in [block.bytes for block in found.alive]
    assert "empty at test_real_memory.py" in repr(found)
    assert "asked for 256.0 TiB at once" in found.advice[0]


def test_an_out_of_memory_error_in_backward_is_answered():
    class Greedy(paddle.autograd.PyLayer):
        @staticmethod
        def forward(_ctx, x):
            return x * 2

        @staticmethod
        def backward(_ctx, gradient):
            return gradient + paddle.empty([1 << 46])

    x = paddle.rand([256, 256])
    x.stop_gradient = False
    found = failure_of(lambda: Greedy.apply(x).sum().backward())
    assert found.requested_bytes == 1 << 48
    assert found.allocated_bytes >= x.size * 4
    assert found.advice


def test_clearing_gradients_frees_them_only_where_they_are_not_set_to_zero():
    net = nn.Linear(256, 256)
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())

    def left(*, set_to_zero: bool) -> int:
        net(paddle.rand([2, 256])).mean().backward()
        gc.collect()
        with paddle_lab.memory() as trace:
            optimizer.clear_grad(set_to_zero=set_to_zero)
        return trace.memory.start_bytes - trace.memory.end_bytes

    assert left(set_to_zero=True) < 256 * 256 * 4
    assert left(set_to_zero=False) >= 256 * 256 * 4


def test_a_saved_trace_has_the_same_answers(tmp_path):
    trace = train(lambda _loss, _net: None, steps=2)
    back = paddle_lab.load(trace.save(tmp_path / "step.pltrace"))
    assert repr(back.memory) == repr(trace.memory)
    assert repr(back.allocations) == repr(trace.allocations)


@pytest.mark.parametrize("keeps", [False, True])
def test_what_lbfgs_keeps_of_its_newest_steps_is_no_leak_and_losses_beside_it_are(keeps):
    layer, x = nn.Linear(20, 20), paddle.rand([100, 20])
    optimizer = paddle.optimizer.LBFGS(parameters=layer.parameters(), max_iter=2)
    losses = []

    def closure():
        optimizer.clear_grad()
        loss = (layer(x) - x).square().mean()
        loss.backward()
        losses.append(loss + paddle.zeros([1000]) if keeps else float(loss))
        return loss

    with paddle_lab.memory() as trace:
        for _ in range(8):
            optimizer.step(closure)
    assert len(trace.memory.growth()) > keeps
    assert ("Keep numbers" in trace.memory.leak) is keeps
    assert ("Keep numbers" in trace.summary()) is keeps
