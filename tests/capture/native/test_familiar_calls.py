"""Repeated backward calls are recorded without grad nodes, which are copied from earlier calls."""

from __future__ import annotations

import gc

import paddle
import pytest
from paddle import nn
from paddle.distributed.fleet.utils import recompute

import paddle_lab
from paddle_lab.capture.limit import limiter
from paddle_lab.capture.memory import capture as memory_capture
from paddle_lab.capture.memory.held.familiar_calls import FamiliarCalls
from paddle_lab.capture.memory.log.allocator_log import AllocatorLog


@pytest.fixture(autouse=True)
def _soon_familiar(monkeypatch):
    monkeypatch.setattr(limiter, "_FIRST_SETTLE_OPS", 5)
    monkeypatch.setattr(memory_capture, "_SETTLE_EVENTS", 40)


@pytest.fixture
def without_runs(monkeypatch):
    """Which backward calls were recorded without their grad nodes."""
    spans = []
    enter = AllocatorLog.enter_backward

    def noting(self, *args, **kwargs):
        spans.append(enter(self, *args, **kwargs))
        return spans[-1]

    monkeypatch.setattr(AllocatorLog, "enter_backward", noting)
    return lambda: [number for number, span in enumerate(spans) if not span.has_runs]


def training(steps, *, odd=-1, widths=(8,), layer=None):
    paddle.seed(5)
    net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 8), nn.GELU())
    optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
    kept = []
    gc.collect()  # an earlier trainer's state would be memory from before this trace
    with paddle_lab.memory() as trace:
        for step in range(steps):
            batch = paddle.rand([4 * widths[step % len(widths)], 8])
            batch.stop_gradient = layer is None
            hidden = net(batch) if layer is None else layer(net, batch)
            if step == odd:
                hidden.register_hook(lambda gradient: kept.append(gradient.tile([7, 7])))
            hidden.mean().backward()
            optimizer.step()
            optimizer.clear_grad()
    return trace


def told(trace):
    """Return the kind and the owner of each allocation of a backward, by name and number."""
    record = trace.record
    table, nodes = record.tables["allocations"], record.grad_nodes
    columns = zip(
        *(table[name].tolist() for name in ("kind", "bytes", "op", "phase", "grad_node")),
        strict=True,
    )
    return [
        (*cells, node, record.text(int(nodes["name"][node])) if node >= 0 else "")
        for *cells, node in columns
    ]


def of_all_recorded(monkeypatch, steps, **options):
    with monkeypatch.context() as patch:
        patch.setattr(FamiliarCalls, "is_familiar", lambda _self, _signature: False)
        return told(training(steps, **options))


@pytest.mark.parametrize("widths", [(8,), (8, 16)])
def test_they_are_told_as_if_their_grad_nodes_had_been_recorded(monkeypatch, without_runs, widths):
    expected = of_all_recorded(monkeypatch, 16, widths=widths)
    assert not without_runs()
    assert told(training(16, widths=widths)) == expected
    assert len(without_runs()) >= 6


def test_two_equal_calls_are_read_at_once_however_few_ops_a_step_has(monkeypatch, without_runs):
    monkeypatch.setattr(limiter, "_FIRST_SETTLE_OPS", 100_000)
    expected = of_all_recorded(monkeypatch, 12)
    found = told(training(12))
    # The first steps differ: they meet the parameters and make the optimizer's state.
    assert [number - 12 for number in without_runs()] == list(range(4, 12))
    assert found == expected


def test_a_call_that_turns_out_unlike_has_no_grad_nodes_and_ends_the_trust(
    monkeypatch, without_runs
):
    expected = of_all_recorded(monkeypatch, 16, odd=10)
    found = told(training(16, odd=10))
    skipped = [number - 16 for number in without_runs()]
    assert 10 in skipped
    assert not {12, 13, 14, 15} & set(skipped)
    unlike = [(one, other) for one, other in zip(found, expected, strict=True) if one != other]
    assert unlike
    assert {one[-2] for one, _ in unlike} == {-1}


def test_a_call_with_calls_inside_is_never_familiar(without_runs):
    trace = training(12, layer=recompute)
    assert len(trace.backward_calls) == 24
    assert not without_runs()
