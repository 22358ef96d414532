"""A replay changes nothing that the user's program sees, and says why it cannot."""

from __future__ import annotations

import gc
import random
from contextlib import suppress

import numpy as np
import paddle
import pytest
from paddle.autograd import PyLayer

import paddle_lab
from paddle_lab.capture.replay.held import HeldTensors
from paddle_lab.capture.replay.player import Player
from tests.models import MODELS


def refusal(trace, op, output=0) -> str:
    with pytest.raises(paddle_lab.ReplayError) as caught:
        trace.value(op, output)
    return str(caught.value)


def test_a_traced_run_computes_the_same():
    losses = []
    for is_traced in (False, True):
        step = MODELS["transformer_encoder"]()
        if is_traced:
            with paddle_lab.trace(replay=True):
                losses.append([step()[0].numpy() for _ in range(2)])
        else:
            losses.append([step()[0].numpy() for _ in range(2)])
    assert np.array_equal(*losses)


def test_a_click_changes_nothing():
    paddle.seed(1)
    net = paddle.nn.Sequential(
        paddle.nn.Conv2D(1, 4, 3), paddle.nn.BatchNorm2D(4), paddle.nn.Dropout(0.3)
    )
    optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
    x = paddle.randn([2, 1, 6, 6])
    x.stop_gradient = False
    with paddle_lab.trace(replay=True) as trace:
        for _ in range(2):
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
    net(x).mean().backward()  # leaves a gradient

    def state():
        tensors = [*net.parameters(), *net.buffers(), x, loss, *optimizer.state_dict().values()]
        tensors = [tensor for tensor in tensors if isinstance(tensor, paddle.Tensor)]
        gradients = [tensor.grad for tensor in tensors if tensor.grad is not None]
        return (
            [tensor.numpy().tobytes() for tensor in (*tensors, *gradients)],
            [tensor.inplace_version for tensor in tensors],
            [tensor.stop_gradient for tensor in tensors],
            paddle.framework.core.default_cpu_generator().get_state().current_seed(),
            random.getstate(),
            np.random.get_state()[1].tolist(),
            paddle.is_grad_enabled(),
            paddle.base.core.host_memory_stat_current_value("Allocated", 0),
            paddle.utils.unique_name.generate("name"),
        )

    def without_name(found):
        return found[:-1]

    _ = trace.ops
    gc.collect()
    before = state()
    for op in trace.ops:
        trace.value(op)
    gc.collect()
    after = state()
    assert without_name(before) == without_name(after)
    assert int(after[-1].rpartition("_")[2]) == int(before[-1].rpartition("_")[2]) + 1
    paddle.seed(5)
    expected = paddle.randn([3]).numpy()
    paddle.seed(5)
    trace.value(len(trace.ops) - 1)
    assert np.array_equal(paddle.randn([3]).numpy(), expected)


def test_only_the_newest_trace_holds_values():
    with paddle_lab.trace(replay=True) as first:
        paddle.ones([2]) + 1
    assert first.value(1).tolist() == [2, 2]
    with paddle_lab.trace() as without:
        paddle.ones([2]) + 1
    assert first.value(1).tolist() == [2, 2]
    assert "replay=True" in refusal(without, 0)
    with paddle_lab.trace(replay=True) as second:
        paddle.ones([2]) + 2
    assert "older" in refusal(first, 0)
    assert second.value(1).tolist() == [3, 3]


def test_the_next_trace_uses_the_memory_of_copies(monkeypatch):
    taken = []
    take_over = HeldTensors.take_over
    monkeypatch.setattr(
        HeldTensors, "take_over", lambda self, older: (taken.append(older), take_over(self, older))
    )
    w = paddle.create_parameter([300, 400], "float32")
    copies, holders = [], []
    for turn in range(3):
        expected = w.numpy() * 2
        with paddle_lab.trace(replay=True) as trace:
            doubled = w * 2
            w.set_value(w.numpy() + 1)
        held = trace._replay.log.held
        holders.append(held)
        copies.append({one.tensor.data_ptr() for one in held.by_number.values()})
        assert not held._spare
        assert np.array_equal(trace.value(0), expected)
        assert np.array_equal(doubled.numpy(), expected)
        if turn == 1:
            older = trace
            running = Player(paddle, older._replay.log, [])  # it may still read the copies
    assert copies[0] == copies[1]
    assert any(one is holders[0] for one in taken)
    assert not any(one is holders[1] for one in taken)
    del running


def test_a_saved_trace_says_so(tmp_path):
    with paddle_lab.trace(replay=True) as trace:
        paddle.ones([2]) + 1
    assert "saved" in refusal(paddle_lab.load(trace.save(tmp_path / "trace.pdl")), 0)


def test_limits():
    x = paddle.randn([1000, 1000])
    with paddle_lab.trace(replay=True, replay_limit=3) as trace:
        y = x + 1
        _ = paddle.ones([3, 1]), y + 2
    assert "--replay-limit" in refusal(trace, 0)
    assert trace.value(1).tolist() == [[1], [1], [1]]
    with paddle_lab.trace(replay=True, limit=2) as trace:
        for _ in range(9):
            y = paddle.ones([2]) + 1
    assert "limit" in refusal(trace, 0)
    with paddle_lab.trace(replay=True, limit=2, keep="first") as trace:
        for _ in range(9):
            y = paddle.ones([2]) + 1
    assert trace.value(1).tolist() == [2, 2]


def test_interrupted_and_failed_code():
    with suppress(KeyboardInterrupt), paddle_lab.trace(replay=True) as trace:
        paddle.ones([2]) + 1
        raise KeyboardInterrupt
    assert "interrupted" in refusal(trace, 0)
    with suppress(ValueError), paddle_lab.trace(replay=True) as trace:
        x = paddle.ones([2, 3]) * 2
        x @ x
    assert trace.value(1).tolist() == [[2, 2, 2], [2, 2, 2]]
    assert "cannot run again" in refusal(trace, 2)


class Doubled(PyLayer):
    @staticmethod
    def forward(_context, x):
        Doubled.calls += 1
        return x * 2

    @staticmethod
    def backward(_context, gradient):
        Doubled.calls += 1
        return gradient * 2


def test_the_code_of_a_pylayer_does_not_run_again():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    Doubled.calls = 0
    with paddle_lab.trace(replay=True) as trace:
        (Doubled.apply(x * 1) + 1).sum().backward()
    by_name = {op.name: op for op in trace.ops}
    assert trace.value(by_name["Doubled"]).tolist() == [2, 4]
    assert trace.value(by_name["sum"]).tolist() == 8
    nodes = trace.graph("backward").nodes(data=True)
    last = [key for key, data in nodes if data["name"] == "ScaleGradNode"][-1]
    assert trace.gradient(last).tolist() == [2, 2]
    assert Doubled.calls == 2


def test_memory_written_behind_paddles_back_is_refused_where_it_shows():
    array = np.ones([4], np.float32)
    x = paddle.Tensor(array, zero_copy=True)
    with paddle_lab.trace(replay=True) as trace:
        y = x + 1
        array[:] = 5
        z = x + y
    assert "values differ" in refusal(trace, 0)
    assert z.tolist() == [7, 7, 7, 7]


def test_what_a_value_was_compared_with():
    x = paddle.ones([3])
    with paddle_lab.trace(replay=True) as trace:
        y = x + 1
        _ = y * 2
    assert "equal bit for bit" in trace.value(1).check
    del y, _
    gc.collect()
    assert "unverified" in trace.value(1).check
    with paddle_lab.trace(replay=True, values=True) as trace:
        x * 3
    assert "--values" in trace.value(0).check


def test_a_fault_of_the_log_ends_the_replay_and_not_the_trace(monkeypatch):
    def fail(*_args):
        raise RuntimeError("a fault")

    monkeypatch.setattr("paddle_lab.capture.replay.call_log.is_random", fail)
    with paddle_lab.trace(replay=True) as trace:
        paddle.ones([2]) + 1
    assert len(trace.ops) == 2
    assert "a fault" in refusal(trace, 0)


def test_another_trace_does_not_see_a_replay():
    with paddle_lab.trace(replay=True) as trace:
        x = paddle.ones([2]) + 1
    with paddle_lab.trace() as other:
        y = x * 2
        trace.value(1)
        y + 1
    assert [op.name for op in other.ops] == ["multiply", "add"]


def test_wrong_options():
    with pytest.raises(TypeError, match="replay="):
        paddle_lab.trace(replay=3)
    with pytest.raises(TypeError, match="megabytes"):
        paddle_lab.trace(replay=True, replay_limit=0.5)
    with pytest.raises(ValueError, match="megabytes"):
        paddle_lab.trace(replay=True, replay_limit=0)
    with paddle_lab.trace(replay=True) as trace:
        paddle.ones([2])
    with pytest.raises(IndexError):
        trace.value(7)
    with pytest.raises(IndexError, match="1 output"):
        trace.value(0, 1)


def test_a_dropped_trace_holds_nothing():
    import weakref

    x = paddle.randn([3])
    with paddle_lab.trace(replay=True) as trace:
        _ = x + 1
    log = weakref.ref(trace._replay.log)
    del trace
    gc.collect()
    assert log() is None
