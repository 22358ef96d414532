"""``trace.value`` against copies of what each op of real models returned."""

from __future__ import annotations

import sys
import zlib

import numpy as np
import paddle
import pytest

import paddle_lab
from tests.models import MODELS
from tests.replay.kept import KeepingLog

_STEPS = 2
_OPS_OF_EACH = 20


@pytest.fixture(autouse=True)
def _outputs_are_kept(monkeypatch):
    monkeypatch.setattr("paddle_lab.capture.session.CallLog", KeepingLog)


def log_of(trace) -> KeepingLog:
    return trace._replay.log


@pytest.mark.parametrize(
    "name",
    ["resnet18", "transformer_encoder", "lstm", "gru_cells_bidirectional", "gan", "llama",
     "pinn_burgers", "gradient_accumulation", "in_place", "recompute_reentrant", "autoencoder",
     "bfloat16", "unet", "sparse_embedding"],
)  # fmt: skip
def test_values_are_those_of_the_run(name):
    step = MODELS[name]()
    with paddle_lab.trace(replay=True, check="none") as trace:
        for _ in range(_STEPS):
            step()
    random = np.random.default_rng(zlib.crc32(name.encode()))
    count = 0
    for row in random.permutation(len(trace.ops))[:_OPS_OF_EACH].tolist():
        key = int(log_of(trace).row_keys[row])
        for output, kept in enumerate(log_of(trace).outputs[key]):
            if kept is None:
                continue
            value = trace.value(row, output)
            assert value.dtype == kept.dtype
            assert value.shape == kept.shape
            assert value.tobytes() == kept.tobytes(), (name, trace.ops[row].name, row, output)
            count += 1
    assert count >= 14


def values(trace) -> int:
    """Compare all values of a trace; return how many there were."""
    count = 0
    for row, key in enumerate(log_of(trace).row_keys.tolist()):
        for output, kept in enumerate(log_of(trace).outputs[key]):
            if kept is None:  # nothing was written
                continue
            value = trace.value(row, output)
            assert value.tobytes() == kept.tobytes(), (row, trace.ops[row].name, value, kept)
            count += 1
    return count


def test_writes_without_an_op():
    weight = paddle.create_parameter([4, 3], "float32")
    other = paddle.randn([4, 3])
    held = weight.detach()
    buffer = paddle.zeros([3])
    with paddle_lab.trace(replay=True) as trace:
        view = weight.reshape([3, 4])
        _ = weight * 2, held + 1, view + 3
        weight.set_value(other)
        _ = weight * 2, held + 1, view + 3
        with paddle.no_grad():
            view.add_(paddle.ones([3, 4]))
            _ = weight * 2, held + 1, view + 3
            held.scale_(0.5)
            _ = weight * 2, held + 1, view + 3
        other.data = paddle.full([4, 3], 7.0)
        _ = other * 2
        buffer.copy_(paddle.ones([3]), True)
        _ = buffer + 1
        buffer[1] = 5.0
        _ = buffer + 1
        rows = list(other)
        rows[0].add_(paddle.ones([3]))
        _ = other + 1
    with paddle.no_grad():  # later cells write, too
        weight.add_(other)
        other.scale_(2.0)
        buffer.fill_(0.0)
    assert values(trace) > 25


def test_gradients_that_are_added_to_and_cleared():
    layer = paddle.nn.Linear(3, 2)
    table = paddle.nn.Embedding(5, 3, sparse=True)
    optimizer = paddle.optimizer.SGD(parameters=table.parameters())
    x = table(paddle.to_tensor([1, 2, 2])).detach()
    layer(x).sum().backward()
    with paddle_lab.trace(replay=True) as trace:
        for _ in range(2):
            _ = layer.weight.grad * 2
            layer(x).square().sum().backward()
        _ = layer.weight.grad * 2
        layer.weight.clear_gradient(True)
        _ = layer.weight.grad * 2
        for _ in range(2):
            layer(table(paddle.to_tensor([1, 2, 2]))).square().sum().backward()
        optimizer.step()
        _ = table.weight * 1
    assert values(trace) > 20


def test_gradients_that_are_cleared_and_then_written_or_not_used():
    leaves = [paddle.create_parameter([2], "float32") for _ in range(3)]
    written, unused, replaced = leaves
    with paddle_lab.trace(replay=True) as trace:
        for turn in range(4):
            (written * unused).sum().backward()
            (written * replaced).sum().backward()
            older = unused.grad if turn % 2 else None
            _ = older is None or older * 2
            for one in leaves:
                _ = one.grad * 2
                one.clear_gradient()
            if turn == 1:
                written.grad.set_value(np.array([13, 17], np.float32))
            elif turn == 2:
                written.grad = paddle.to_tensor([19.0, 23.0])
            elif turn == 3:
                with paddle.no_grad():
                    written.grad.add_(paddle.to_tensor([29.0, 31.0]))
            _ = written.grad + 1
            (written * replaced).sum().backward()  # leaves the zeros in the other one
            _ = [one.grad - 1 for one in leaves], older is None or older + 1
            replaced.clear_gradient(False)
            replaced.grad = paddle.to_tensor([37.0, 41.0])
            _ = replaced.grad + 2
            replaced.grad = None
    assert values(trace) == 61
    assert log_of(trace).held.size_bytes < 150  # no zeros


@pytest.mark.parametrize("is_replaced", [True, False])
def test_gradients_of_zeros_from_before_the_trace(is_replaced):
    layer = paddle.nn.Linear(300, 40)
    x = paddle.randn([5, 300])
    layer(x).sum().backward()
    if is_replaced:
        layer.clear_gradients()
    else:
        layer.weight.grad = paddle.zeros([300, 40])
        layer.bias.clear_gradient()
    with paddle_lab.trace(replay=True) as trace:
        layer(x).square().sum().backward()
        _ = layer.weight.grad * 2, layer.bias.grad * 2
    assert values(trace) == 5
    held = log_of(trace).held.size_bytes
    assert (held < 70_000) == is_replaced  # the weight and x; else also the gradient


def test_random_ops_of_all_kinds():
    paddle.seed(3)
    with paddle_lab.trace(replay=True) as trace:
        for _ in range(2):
            x = paddle.randn([6, 4])
            paddle.nn.functional.dropout(x, 0.5)
            paddle.bernoulli(paddle.nn.functional.sigmoid(x))
            paddle.multinomial(paddle.nn.functional.softmax(x), 2)
            paddle.randperm(9), paddle.randint(0, 9, [4]), paddle.uniform([3])
            paddle.poisson(x.abs())
            x.exponential_(2.0)
            x.uniform_(-1.0, 1.0)
            x.normal_()
            paddle.nn.functional.gumbel_softmax(x)
            paddle.nn.functional.rrelu(x, training=True)
            paddle.standard_gamma(x.abs())
            paddle.binomial(paddle.full([3], 9), paddle.full([3], 0.5))
    assert values(trace) > 40


@pytest.mark.skipif(sys.platform != "linux", reason="new memory can be filled with glibc alone")
def test_outputs_that_nobody_wrote_are_refused():
    norm = paddle.nn.BatchNorm1D(3)
    x = paddle.randn([4, 3])
    with paddle_lab.trace(replay=True) as trace:
        norm.eval()
        _ = norm(x)
        norm.train()
        _ = norm(x)
        blank = paddle.empty([400])
        _ = blank + 1
        blank.fill_(3.0)
        _ = blank + 2
    in_eval, in_training = (op.key for op in trace.ops if op.name == "batch_norm")
    for output in (3, 4):
        with pytest.raises(paddle_lab.ReplayError, match="unwritten"):
            trace.value(in_eval, output)
        key = int(log_of(trace).row_keys[in_training])
        kept = log_of(trace).outputs[key][output]
        assert trace.value(in_training, output).tobytes() == kept.tobytes()
    with pytest.raises(paddle_lab.ReplayError, match="unwritten"):
        trace.value(in_training + 2)
    assert trace.value(len(trace.ops) - 1).tolist() == [5.0] * 400


def test_memory_that_several_tensors_share_over_steps():
    layer = paddle.nn.Linear(3, 3)
    table = paddle.nn.Embedding(10, 3)
    parameters = [*layer.parameters(), *table.parameters()]
    clip = paddle.nn.ClipGradByGlobalNorm(0.1)
    optimizer = paddle.optimizer.AdamW(parameters=parameters, grad_clip=clip)
    scaler = paddle.amp.GradScaler(init_loss_scaling=8.0)
    averages = [one.clone().detach() for one in parameters]
    aliases = [one.detach() for one in parameters]
    view = table.weight.t()
    ids = paddle.to_tensor([1, 2, 3])
    with paddle_lab.trace(replay=True) as trace:
        for _ in range(3):
            hidden = layer(table(ids))
            loss = paddle.nn.functional.cross_entropy(hidden @ table.weight.t(), ids)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.clear_grad()
            with paddle.no_grad():
                for average, one, alias in zip(averages, parameters, aliases, strict=True):
                    average.scale_(0.9).add_(one * 0.1)
                    _ = alias + 1, view * 2
    assert values(trace) > 100
