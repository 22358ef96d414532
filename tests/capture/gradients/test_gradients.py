"""Gradient statistics are equal to NumPy's."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from paddle.nn import functional as F

import paddle_lab
from tests.capture.gradients.gradient_rows import node_names, row_numbers, rows_by_edge


def check_numbers(found: dict[str, float], gradient: np.ndarray) -> None:
    assert found["elements"] == gradient.size
    assert found["zeros"] == (gradient == 0).sum()
    assert found["nans"] == np.isnan(gradient).sum()
    assert found["infs"] == np.isinf(gradient).sum()
    finite = gradient[np.isfinite(gradient)].astype(np.float64)
    assert found["smallest"] == finite.min()
    assert found["largest"] == finite.max()
    assert found["mean"] == pytest.approx(finite.mean(), rel=1e-5, abs=1e-9)
    assert found["norm"] == pytest.approx(np.sqrt(np.square(finite).sum()), rel=1e-6)


def test_every_edge_says_what_paddle_grad_returns():
    paddle.seed(7)
    weights = [paddle.create_parameter([5, 5], "float32") for _ in range(3)]
    data = paddle.randn([4, 5])

    def forward() -> list[paddle.Tensor]:
        made = [data]
        for weight in weights:
            made.append(paddle.matmul(made[-1], weight))
            made.append(F.relu(made[-1]))
        return [*made[1:], made[-1].sum()]

    *wanted, loss = forward()
    gradients = paddle.grad(loss, [*wanted, *weights])
    with paddle_lab.trace(grads=True) as trace:
        made = forward()
        made[-1].backward()

    record = trace.record
    edges = record.tables["grad_edges"]
    row_of, numbers, names = rows_by_edge(record), row_numbers(record), node_names(record)
    assert sorted(row_of) == [-1, *range(len(edges))]
    check_numbers(numbers[row_of[-1]], np.ones([]))
    # Edges into ops, last op first: each makes one of ``wanted``; then those into the weights.
    inner = [edge for edge in row_of if edge >= 0 and names[edges["target"][edge]][0] in "MR"]
    for edge, gradient in zip(inner, reversed(gradients[:6]), strict=True):
        check_numbers(numbers[row_of[edge]], gradient.numpy())
    outer = [edge for edge in row_of if edge >= 0 and edge not in inner]
    for edge, gradient in zip(outer, reversed(gradients[6:]), strict=True):
        check_numbers(numbers[row_of[edge]], gradient.numpy())


def test_what_a_node_wrote_over_is_not_taken_for_what_it_was_given():
    data = paddle.to_tensor([4.0, 9.0])
    data.stop_gradient = False
    with paddle_lab.trace(grads=True) as trace:
        both = paddle.concat([paddle.sqrt(data * 1.0), (data * 1.0).reshape([1, 2])[0]])
        paddle.sqrt((both * both).sum() * 0.0).backward()

    record = trace.record
    names, edges, row_of = node_names(record), record.tables["grad_edges"], rows_by_edge(record)
    numbers = row_numbers(record)
    # The derivative of a square root at 0 is infinite; nobody handed it to its own grad node.
    assert all(names[edges["source"][edge]] == "SqrtGradNode" for edge in row_of if edge == 0)
    assert numbers[row_of[-1]]["infs"] == 0
    assert numbers[row_of[0]]["infs"] == 1
    joined = [
        edge
        for edge in range(len(edges))
        if names[edges["source"][edge]] == "ConcatGradNode"
        and names[edges["target"][edge]] == "SqrtGradNode"
    ]
    assert len(joined) == 1
    assert joined[0] not in row_of


@pytest.mark.parametrize("last", ["exp", "sqrt", "tanh", "exp_", "add_one", "stack", "itself"])
def test_the_first_gradient_is_told_whatever_the_last_op_does_with_it(last):
    data = paddle.full([], 0.25)
    data.stop_gradient = False
    ends = {
        "add_one": lambda value: value.add_(paddle.ones([])),
        "stack": lambda value: paddle.stack([value, value]),
        "itself": lambda _: data,
    }
    with paddle_lab.trace(grads=True) as trace:
        value = data * 1.0
        loss = ends[last](value) if last in ends else getattr(value, last)()
        loss.backward(retain_graph=True)
        loss.backward(paddle.full(loss.shape, -3.0))
        paddle.autograd.backward([data * 2.0, data * 3.0], [None, paddle.full([], 5.0)])
        paddle.grad([data * 2.0], [data], [paddle.full([], 7.0)])

    numbers = row_numbers(trace.record)
    table = trace.record.tables["grad_stats"]
    begun = np.flatnonzero(table["grad_edge"] < 0).tolist()
    assert table["backward_call"][begun].tolist() == [0, 1, 2, 2, 3]
    for row, start in zip(begun, [1.0, -3.0, 1.0, 5.0, 7.0], strict=True):
        check_numbers(
            numbers[row], np.full(loss.shape if row == begun[0] or start < 0 else [], start)
        )
    assert np.isin(begun, trace.record.tables["grad_histograms"]["grad_stat"]).all()


def test_what_arrives_beside_a_first_gradient_is_not_taken_for_it():
    data = paddle.full([], 0.25)
    data.stop_gradient = False
    with paddle_lab.trace(grads=True) as trace:
        value = data + 1.0
        both = paddle.stack([value, data * 2.0])
        paddle.autograd.backward([value, both], [paddle.full([], 5.0), paddle.full([2], 3.0)])

    record = trace.record
    names, edges = node_names(record), record.tables["grad_edges"]
    known = {
        (names[edges["source"][edge]], names[edges["target"][edge]])
        for edge in rows_by_edge(record)
        if edge >= 0
    }
    assert ("StackGradNode", "ScaleGradNode") in known  # of ``data * 2``, where nothing else comes
    arrived = [
        row_numbers(record)[row]["largest"]
        for edge, row in rows_by_edge(record).items()
        if edge >= 0 and names[edges["source"][edge]] == "StackGradNode"
    ]
    assert arrived == [3.0]


def test_a_histogram_counts_the_values_of_each_exponent():
    data = paddle.to_tensor([0.0, 0.75, -1.5, 3.0, 3.5, float("inf"), float("nan")])
    factor = paddle.ones([7])
    factor.stop_gradient = False
    with paddle_lab.trace(grads=True) as trace:
        (factor * data).sum().backward()

    record = trace.record
    (row,) = (row for edge, row in rows_by_edge(record).items() if edge == 1)
    check_numbers(row_numbers(record)[row], data.numpy())
    table = record.tables["grad_histograms"]
    rows = zip(*(table[name].tolist() for name in table.columns), strict=True)
    assert [cells[1:] for cells in rows if cells[0] == row] == [(0, 1, 1), (-1, 0, 1), (1, 0, 2)]
