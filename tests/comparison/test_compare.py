"""``paddle_lab.compare``: its table and its sentences, for traces that fit and that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.comparison.errors import errors_between


def traced(scale: float = 1.0, *, noise: float = 0.0, **options: Any) -> paddle_lab.Trace:
    x = paddle.to_tensor(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))
    with paddle_lab.trace(**{"digest": True, **options}) as trace, paddle_lab.region("part"):
        y = paddle.tanh(x * scale)
        z = paddle.add(y, paddle.full([4], noise))
        paddle.sum(z)
    return trace


def test_the_same_code_is_equal_also_from_a_file(tmp_path: Path) -> None:
    traced().save(tmp_path / "a.pdlab")
    comparison = paddle_lab.compare(tmp_path / "a.pdlab", traced())
    assert comparison.first is None
    assert comparison.findings == []
    assert repr(comparison) == "<Comparison: Nothing differs: all 5 ops are equal.>"


def test_rows_are_a_table_of_both_traces(tmp_path: Path) -> None:
    comparison = paddle_lab.compare(traced(), traced(noise=1e-4))
    frame = comparison.to_pandas()
    assert frame["state"].tolist() == ["equal", "equal", "different", "different", "different"]
    assert frame["origin"].tolist() == ["", "", "", "", ""]
    assert frame["a"].tolist() == frame["b"].tolist() == list(range(5))
    assert "value=0.0" in frame["reason"][2]
    assert comparison.to_csv(tmp_path / "c.csv").read_text(encoding="utf-8").count("\n") == 6
    assert comparison.to_html(tmp_path / "c.html").stat().st_size > 1000
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.table(comparison.rows).num_rows == 5


def test_kept_values_tell_how_large_a_difference_is() -> None:
    comparison = paddle_lab.compare(traced(digest="part"), traced(noise=1e-4, digest="part"))
    add = comparison.rows[3]
    assert add.name == "add"
    assert add.max_abs == pytest.approx(1e-4, rel=1e-2)
    assert add.max_rel == pytest.approx(1e-4 / np.tanh(1), rel=1e-2)
    assert add.cosine == pytest.approx(1, abs=1e-6)
    assert (add.ulp or 0) > 100


def test_a_tolerance_accepts_small_differences_of_values() -> None:
    for options in ({"digest": True}, {"digest": "part"}):
        one, two = traced(**options), traced(noise=1e-4, **options)
        states = [row.state for row in paddle_lab.compare(one, two, tolerance=1e-2).rows]
        # An attribute changed; a sum near zero has a large relative error.
        assert states == ["equal", "equal", "different", "equal", "different"]
        states = [row.state for row in paddle_lab.compare(one, two, tolerance=1e-6).rows]
        assert states[3] == "different"
    with pytest.raises(ValueError, match="tolerance"):
        paddle_lab.compare(one, two, tolerance=-1)


def test_rounded_digests_ignore_noise() -> None:
    one, two = traced(decimals=2), traced(noise=1e-4, decimals=2)
    assert [row.state for row in paddle_lab.compare(one, two).rows][3:] == ["equal", "equal"]


def test_errors_are_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5, 7)).astype(np.float32)
    y = np.nextafter(x, np.float32(9))
    found = errors_between(x, y)
    assert found.ulp == 1
    assert found.max_abs == np.abs(x.astype(np.float64) - y).max()
    assert errors_between(-x[:1] * 0, x[:1] * 0).ulp == 0  # -0.0 and 0.0
    assert errors_between(np.array([np.nan, np.inf]), np.array([np.nan, np.inf])).max_abs == 0
    assert errors_between(np.zeros(3), np.ones(3)).max_rel == np.inf


@pytest.mark.parametrize(
    ("one", "two", "sentence"),
    [
        ({"digest": False}, {}, "Without digests in a"),
        ({"decimals": 3}, {}, "Values are not compared"),
        ({"limit": 2}, {}, "Trace a keeps only a part"),
    ],
)
def test_what_cannot_be_compared_is_said(
    one: dict[str, Any], two: dict[str, Any], sentence: str
) -> None:
    comparison = paddle_lab.compare(traced(**one), traced(**two))
    assert any(sentence in notice for notice in comparison.record.origin.notices)


def test_without_digests_the_rest_is_compared() -> None:
    comparison = paddle_lab.compare(traced(digest=False), traced(2.0))
    assert comparison.first is not None
    assert comparison.first.reason == "Attributes were 1.0, now 2.0"
    assert {row.state for row in comparison.rows} == {"different", "unknown"}


def test_other_models_and_empty_traces_get_a_sentence() -> None:
    with paddle_lab.trace() as empty:
        pass
    with paddle_lab.trace(digest=True) as other:
        paddle.cumsum(paddle.abs(paddle.ones([3, 3])))
    found = [paddle_lab.compare(*pair) for pair in ((empty, traced()), (traced(), other))]
    assert "Trace a has no ops" in found[0].record.origin.notices[1]
    assert any("different models" in notice for notice in found[1].record.origin.notices)
    for comparison in found:
        assert comparison.page_html()


def test_only_traces_and_paths_are_compared() -> None:
    with pytest.raises(TypeError, match="not int"):
        paddle_lab.compare(traced(), 3)  # type: ignore[arg-type]


def test_parameters_that_differ_before_the_trace_are_named() -> None:
    def trained(seed: int) -> paddle_lab.Trace:
        paddle.seed(seed)
        layer = paddle.nn.Linear(3, 3)
        with paddle_lab.trace(digest=True) as trace:
            layer(paddle.ones([1, 3]))
        return trace

    comparison = paddle_lab.compare(trained(0), trained(1))
    assert "the parameter `weight`" in comparison.record.origin.notices[1]


def test_the_first_gradient_that_differs_is_named() -> None:
    class Doubled(paddle.autograd.PyLayer):
        factor = 1.0

        @staticmethod
        def forward(_ctx: Any, x: paddle.Tensor) -> paddle.Tensor:
            return x * 2

        @staticmethod
        def backward(_ctx: Any, gradient: paddle.Tensor) -> paddle.Tensor:
            return gradient * Doubled.factor

    def trained(factor: float) -> paddle_lab.Trace:
        Doubled.factor = factor
        x = paddle.to_tensor([0.5, 1.0], stop_gradient=False)
        with paddle_lab.trace(digest=True) as trace:
            y = paddle.tanh(x)
            z = paddle.exp(y)
            paddle.sum(Doubled.apply(z)).backward()
        return trace

    notices = paddle_lab.compare(trained(1.0), trained(2.0)).record.origin.notices
    assert any("The first gradient that differs" in told for told in notices)
    notices = paddle_lab.compare(trained(1.0), trained(1.0)).record.origin.notices
    assert notices == ["Nothing differs: all 6 ops are equal."]
