"""``paddle_lab.compare_static`` on planted differences, and on models without any."""

from __future__ import annotations

import inspect
import re
from typing import Any

import paddle
import pytest

import paddle_lab
from tests.export import differing, healthy
from tests.export.test_check_export import SPECIFICATION, layers

X = paddle.linspace(0.1, 0.9, 12).reshape([3, 4])
DIFFERING = {name: kind for name, kind in layers(differing).items() if name != "Linear"}


def marked(kind: Any) -> tuple[int, str]:
    lines, first = inspect.getsourcelines(kind)
    found = [
        (number, mark[1])
        for number, line in enumerate(lines, first)
        if (mark := re.search(r"OP: (\w+)", line))
    ]
    return found[0]


@pytest.mark.parametrize("name", DIFFERING)
def test_the_first_op_that_differs_is_named(name: str) -> None:
    kind = DIFFERING[name]
    layer = differing.compiled(kind, X)
    calls = layer.calls
    found = paddle_lab.compare_static(layer, X)

    first = found.first
    assert first is not None
    op = first.eager or first.static.removeprefix("pd_op.")
    assert (first.line or first.static_line, op) == marked(kind)
    assert (first.file or first.static_file) == differing.__file__
    assert len(found.to_pandas()) == len(found.rows)
    assert layer.calls == calls


@pytest.mark.parametrize("name", layers(healthy))
def test_a_healthy_model_does_not_differ(name: str) -> None:
    layer = layers(healthy)[name]()
    found = paddle_lab.compare_static(layer, X)

    assert found.first is None, found
    assert not any(row.differs for row in found.rows), found
    assert not found.unchecked
    assert sum(row.max_abs is not None for row in found.rows) >= min(2, len(found.rows))


def with_numbers(x: Any) -> Any:
    y = x * 2
    return y + 1, 3, float(x.sum())


def test_a_number_that_is_a_tensor_in_the_program_is_no_difference() -> None:
    found = paddle_lab.compare_static(with_numbers, X)
    assert found.first is None, found
    assert not any(row.differs for row in found.rows), found


def centred(x: Any) -> Any:
    bias = 1.0 if paddle.in_dynamic_mode() else 2.0
    y = x + bias
    return y - y.mean()


def widened(x: Any) -> Any:
    y = x * 2
    y = y.astype("float64" if paddle.in_dynamic_mode() else "float32")
    return paddle.exp(y).astype("float32")


@pytest.mark.parametrize(
    ("function", "source"),
    [(centred, "y = x + bias"), (widened, 'y = y.astype("float64"')],
)
def test_a_difference_that_the_result_does_not_show_is_told(function: Any, source: str) -> None:
    found = paddle_lab.compare_static(function, X)
    line = inspect.getsourcelines(function)[1] + 2
    assert found.first is None
    assert next(row for row in found.rows if row.differs).line == line
    assert f"test_compare_static.py:{line}; " in found.verdict
    assert source in found.verdict


def test_an_export_that_computes_something_else_has_its_line() -> None:
    found = paddle_lab.check_export(differing.Counter(), SPECIFICATION)
    (one,) = found.blockers
    assert (one.line, one.said) == marked(differing.Counter)
    assert one.kind == "different-result"
    assert not found.ok
