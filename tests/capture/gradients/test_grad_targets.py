"""The record has the gradients that each call of ``paddle.grad`` requested."""

from __future__ import annotations

import paddle
import pytest

import paddle_lab
from paddle_lab import Trace
from paddle_lab.analysis.answers import with_answers
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.gradients.reach import GradientReach


def asked(trace: Trace) -> list[tuple[int, str]]:
    """Return backward calls and the names of the grad nodes they were asked for."""
    record = trace.record
    table, names = record.grad_targets, record.grad_nodes["name"]
    return [
        (call, record.text(int(names[node])) if node >= 0 else "")
        for call, node in zip(
            table["backward_call"].tolist(), table["grad_node"].tolist(), strict=True
        )
    ]


def leaf(*shape: int) -> paddle.Tensor:
    tensor = paddle.ones(shape)
    tensor.stop_gradient = False
    return tensor


def test_leaves_values_on_the_way_and_what_is_in_no_graph() -> None:
    x, weight, unused = leaf(2, 3), leaf(3, 1), leaf(1)
    with paddle_lab.trace() as trace:
        hidden = paddle.tanh(x)
        loss = paddle.matmul(hidden, weight).sum()
        paddle.grad(loss, [hidden, x], retain_graph=True)
        paddle.grad(loss, [weight, unused], allow_unused=True, retain_graph=True)
        loss.backward()
    assert asked(trace) == [
        (0, "TanhGradNode"),
        (0, "GradNodeAccumulation"),
        (1, "GradNodeAccumulation"),
        (1, ""),
    ]


def test_a_gradient_goes_to_what_was_asked_for_alone() -> None:
    x, weight, other = leaf(2, 3), leaf(3, 1), leaf(1)
    with paddle_lab.trace() as trace:
        loss = (paddle.matmul(paddle.tanh(x), weight) * other).sum()
        paddle.grad(loss, [x])
    facts = Facts(with_answers(trace.record))
    reach = GradientReach(facts)
    names = [facts.grad_node_name(node) for node in reach.nodes.nonzero()[0].tolist()]
    assert sorted(names) == [
        "GradNodeAccumulation", "MatmulGradNode", "MultiplyGradNode", "SumGradNode", "TanhGradNode",
    ]  # fmt: skip
    assert len(reach.leaves) == 1
    assert len(reach.left_aside) == 2
    assert [facts.phase(op) for op in reach.ops.nonzero()[0].tolist()] == [0] * 4


def test_gradients_of_gradients_tell_each_time() -> None:
    x, weight = leaf(2, 3), leaf(3, 1)
    with paddle_lab.trace() as trace:
        value = paddle.tanh(paddle.matmul(x, weight)).sum()
        (slope,) = paddle.grad(value, [x], create_graph=True)
        (curve,) = paddle.grad(slope.sum(), [x], create_graph=True)
        paddle.grad(curve.sum(), [weight])
    assert [call for call, _ in asked(trace)] == [0, 1, 2]
    facts = Facts(with_answers(trace.record))
    assert len(GradientReach(facts).leaves) == 2
    assert not GradientReach(facts).left_aside


@pytest.mark.parametrize("keep", ["newest", "first", "steps"])
def test_of_calls_that_a_limit_left_out_nothing_is_told(keep: str) -> None:
    x, weight = leaf(2, 3), leaf(3, 1)
    with paddle_lab.trace(limit=12, keep=keep) as trace:
        for _ in range(20):
            loss = paddle.tanh(paddle.matmul(x, weight)).sum()
            paddle.grad(loss, [x])
            paddle_lab.step()
    calls = trace.record.backward_calls["kind"].tolist().count(1)
    assert 0 < calls < 20
    assert asked(trace) == [(call, "GradNodeAccumulation") for call in range(calls)]


def test_the_table_is_saved_and_an_older_trace_reads_as_before(tmp_path) -> None:
    x, weight = leaf(2, 3), leaf(3, 1)
    with paddle_lab.trace() as trace:
        paddle.grad(paddle.matmul(x, weight).sum(), [x])
    trace.save(tmp_path / "asked.pltrace")
    loaded = paddle_lab.load(tmp_path / "asked.pltrace")
    assert asked(loaded) == asked(trace)
    older = loaded.record.tables["grad_targets"]
    loaded.record.tables["grad_targets"] = type(older)(
        {name: column[:0] for name, column in older.columns.items()}
    )
    assert len(GradientReach(Facts(with_answers(loaded.record))).leaves) == 2


def stopped(trace: Trace) -> list[tuple[int, int]]:
    """Return backward calls and the number of tensors in their ``no_grad_vars``."""
    calls = trace.record.grad_stops["backward_call"].tolist()
    return [(call, calls.count(call)) for call in dict.fromkeys(calls)]


@pytest.mark.parametrize("wrapped", [tuple, set, list])
def test_a_leaf_named_in_no_grad_vars_gets_none(wrapped) -> None:
    x, weight = leaf(2, 3), leaf(3, 1)
    with paddle_lab.trace() as trace:
        loss = paddle.tanh(paddle.matmul(x, weight)).sum()
        found = paddle.grad(loss, [x, weight], allow_unused=True, no_grad_vars=wrapped([weight]))
    assert found[1] is None
    assert stopped(trace) == [(0, 1)]


def test_no_gradient_goes_through_a_value_named_in_no_grad_vars() -> None:
    x, gate, weight = leaf(2, 3), leaf(1, 3), leaf(3, 1)
    with paddle_lab.trace() as trace:
        level = paddle.nn.functional.sigmoid(gate)
        loss = paddle.matmul(paddle.tanh(x) * level, weight).sum() + (x * 2).sum()
        first = paddle.grad(loss, [x, gate], retain_graph=True)
        then = paddle.grad(loss, [x, weight], no_grad_vars=level)
    assert all(one is not None for one in (*first, *then))
    assert stopped(trace) == [(1, 1)]
    reach = GradientReach(Facts(with_answers(trace.record)))
    assert len(reach.leaves) == 3  # the first call was told of none
    assert not reach.kept_away


@pytest.mark.parametrize("keep", ["newest", "first", "steps"])
def test_of_calls_that_a_limit_left_out_no_stop_is_told(keep: str) -> None:
    x, weight = leaf(2, 3), leaf(3, 1)
    with paddle_lab.trace(limit=12, keep=keep) as trace:
        for _ in range(20):
            loss = paddle.tanh(paddle.matmul(x, weight)).sum()
            paddle.grad(loss, [x], no_grad_vars=[weight])
            paddle_lab.step()
    calls = trace.record.backward_calls["kind"].tolist().count(1)
    assert 0 < calls < 20
    assert stopped(trace) == [(call, 1) for call in range(calls)]
