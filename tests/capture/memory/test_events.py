"""What the traced code did apart from ops is recorded: its kind, tensor and line."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab import Trace
from paddle_lab.analysis.source.stacks import stack_of
from paddle_lab.trace.schema import EVENT_KINDS


def events_of(trace: Trace, kind: str) -> list[tuple[str, int]]:
    """Return the details of events of one kind, and the lines of this file they stand at."""
    record = trace.record
    events = record.events
    return [
        (
            record.text(int(events["detail"][row])),
            next(
                (
                    frame.line
                    for frame in stack_of(record, int(events["stack"][row]))
                    if frame.file == __file__
                ),
                0,
            ),
        )
        for row in np.flatnonzero(events["kind"] == EVENT_KINDS.index(kind)).tolist()
    ]


def line_of(function: Callable[..., object], text: str) -> int:
    """Return the number of the line of a function that has a text in it."""
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if text in line)


def test_values_that_go_to_python_are_noted_with_their_line():
    weight = paddle.ones([2, 2])
    weight.stop_gradient = False
    data = paddle.ones([2, 2])
    with paddle_lab.trace() as trace:
        h = weight * 2
        h.numpy()
        h.tolist()
        np.asarray(h)
        float(h.sum())
        h.max().item()
        data.numpy()
        paddle.argmax(h).item()
    reads = events_of(trace, "read")
    assert [detail for detail, _ in reads] == ["numpy"] * 3 + ["numpy 8.0", "item 2.0"]
    here = test_values_that_go_to_python_are_noted_with_their_line
    assert reads[0][1] == line_of(here, "h.numpy()")
    assert reads[4][1] == line_of(here, "h.max().item()")


def test_tensors_made_of_values_and_parameters_are_noted():
    with paddle_lab.trace() as trace:
        paddle.to_tensor([1.0, 2.0])
        paddle.to_tensor([1, 2])
        paddle.Tensor(np.ones([2], np.float32))
        paddle.Tensor(np.ones([2], np.int64))
        layer = paddle.nn.Linear(2, 2)
        copy.deepcopy(layer)
    details = [detail for detail, _ in events_of(trace, "created")]
    assert details == ["to_tensor", "Tensor"] + ["parameter"] * 4


def test_what_ends_a_gradient_is_noted():
    weight = paddle.ones([2])
    weight.stop_gradient = False
    with paddle_lab.trace() as trace:
        h = weight * 2
        h.detach()
        (weight * 2).detach_()
        paddle.to_tensor(weight * 3)
        assert (weight * 4).data is not None
        h.stop_gradient = True
        h.stop_gradient = True
        paddle.ones([2]).detach()
    details = [detail for detail, _ in events_of(trace, "gradient_stopped")]
    assert details == ["detach", "detach_", "copy", "data", "stop_gradient"]


def test_a_value_copied_without_its_graph_knows_where_it_came_from():
    weight = paddle.ones([2])
    weight.stop_gradient = False
    with paddle_lab.trace() as trace:
        h = weight * 2
        k = paddle.to_tensor(h) + 1
    tensors = trace.record.tensors
    (copied,) = np.flatnonzero(tensors["detached_from"] >= 0).tolist()
    assert tensors["producer"][tensors["detached_from"][copied]] == 0
    assert k.stop_gradient


def test_a_tensor_made_of_a_tensor_knows_whose_memory_it_has():
    weight = paddle.ones([2])
    weight.stop_gradient = False
    with paddle_lab.trace() as trace:
        h = weight * 2
        k = [paddle.Tensor(h), paddle.Tensor(value=h), paddle.Tensor(h.detach())]
        kept = [one + 1 for one in k]
    tensors = trace.record.tensors
    made = np.flatnonzero(tensors["detached_from"] >= 0).tolist()
    assert len(made) == 4
    of_h = [tensors["producer"][tensors["detached_from"][one]] == 0 for one in made]
    assert of_h == [True, True, True, False]  # the last one is of ``h.detach()``
    details = [detail for detail, _ in events_of(trace, "gradient_stopped")]
    assert details == ["data", "data", "detach"]
    assert not events_of(trace, "created")
    assert len(kept) == 3


def test_no_grad_is_noted_as_block_and_decorator():
    @paddle.no_grad()
    def decorated():
        return paddle.is_grad_enabled()

    with paddle_lab.trace() as trace:
        with paddle.no_grad(), paddle.no_grad():
            assert not paddle.is_grad_enabled()
        assert not decorated()
        with paddle.set_grad_enabled(False), paddle.enable_grad():
            assert paddle.is_grad_enabled()
    here = test_no_grad_is_noted_as_block_and_decorator
    off = events_of(trace, "gradient_off")
    assert [line for _, line in off][:2] == [
        line_of(here, "with paddle.no_grad(), "),
        line_of(here, "assert not decorated()"),
    ]
    assert len(off) == len(events_of(trace, "gradient_on")) == 4


def test_writes_that_are_no_op_are_noted():
    layer = paddle.nn.Linear(2, 2)
    with paddle_lab.trace() as trace:
        layer.weight.set_value(np.ones([2, 2], "float32"))
        layer.bias.copy_(paddle.ones([2]), True)
        layer.weight.set_value(np.zeros([2, 2], "float32"))
        layer.weight.set_value(np.ones([2, 2], "float32"))
    told = [detail.split(" ") for detail, _ in events_of(trace, "overwritten")]
    names, checksums = zip(*told, strict=True)
    assert names == ("set_value", "copy_", "set_value", "set_value")
    assert checksums[0] == checksums[3] != checksums[2]


def test_a_backward_call_without_a_graph_is_noted():
    with paddle_lab.trace() as trace:
        paddle.ones([]).backward()
    assert len(events_of(trace, "rootless_backward")) == 1


def test_optimizers_are_known_with_what_they_hold_even_from_a_function_that_returned():
    def train() -> None:
        layer = paddle.nn.Linear(2, 2)
        groups = [{"params": [layer.weight]}, {"params": [layer.bias]}]
        optimizer = paddle.optimizer.SGD(0.1, parameters=groups)
        for _ in range(2):
            layer(paddle.ones([1, 2])).sum().backward()
            optimizer.step()
            optimizer.clear_grad()

    with paddle_lab.trace() as trace:
        train()
        idle = paddle.optimizer.Adam(parameters=paddle.nn.Linear(3, 3).parameters())
    record = trace.record
    names = [record.text(int(name)) for name in record.optimizers["class"]]
    assert names == ["SGD", "Adam"]
    assert record.optimizers["steps"].tolist() == [2, 0]
    assert record.optimizer_parameters["optimizer"].tolist() == [0, 0, 1, 1]
    assert idle is not None


def test_an_optimizer_from_before_is_found_where_a_backward_ran():
    layer = paddle.nn.Linear(2, 2)
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    with paddle_lab.trace() as trace:
        layer(paddle.ones([1, 2])).sum().backward()
    held = trace.record.optimizer_parameters["tensor"].tolist()
    used = set(trace.record.uses["tensor"].tolist())
    assert len(used.intersection(held)) == 2
    optimizer.clear_grad()


@pytest.mark.parametrize("value", ["yes", 1.5])
def test_a_wrong_stop_gradient_raises_as_without_a_trace(value):
    tensor = paddle.ones([2])
    with pytest.raises(Exception) as plain:  # noqa: PT011
        tensor.stop_gradient = value
    with paddle_lab.trace(), pytest.raises(type(plain.value)) as traced:
        tensor.stop_gradient = value
    assert str(traced.value) == str(plain.value)
    files = [entry.path for entry in traced.traceback]
    assert not any("paddle_lab/capture" in str(file) for file in files)
