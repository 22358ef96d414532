"""``paddle_lab.compare``: its table and its sentences, for traces that fit and that do not."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.capture.rerun.comparison import EXTERNAL, differences
from paddle_lab.comparison.errors import errors_between
from paddle_lab.comparison.gradient_rows import ComparedGradient
from paddle_lab.comparison.rows import ComparedOp
from paddle_lab.trace.kept_values import take_value_tables, with_value_tables
from paddle_lab.trace.record import TraceFileError


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


def test_a_recording_is_compared_with_an_earlier_trace(tmp_path: Path) -> None:
    before = traced(decimals=2)
    after = traced(noise=1e-4, digest=False, against=before)
    assert after.comparison.a is before
    assert after.comparison.b is after
    # Rounded to the decimals of the other trace, the values after the edited op are equal.
    states = [row.state for row in after.comparison.rows]
    assert states == ["equal", "equal", "different", "equal", "equal"]
    before.save(tmp_path / "a.pdlab")
    # An op only in trace a moves the rows, and the values are still those of trace b.
    shorter = traced(2.0, replay=True, noise=3.0)
    with paddle_lab.trace(digest=True) as longer:
        paddle.ones([2])
    found = paddle_lab.compare(longer, shorter)
    add = next(row for row in found.rows if row.name == "add")
    assert add.b is not None
    assert found.value(add.key).tolist() == shorter.value(add.b).tolist()
    with paddle_lab.trace(against=tmp_path / "a.pdlab") as trace:
        assert trace.comparison.is_recording
    assert trace.comparison.first.state == "only_a"


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


def test_answers_about_both_traces_are_made_only_when_they_are_read() -> None:
    """They would take longer than the comparison."""
    a, b = traced(), traced(noise=1e-4)
    row = paddle_lab.compare(a, b).first
    assert isinstance(row, ComparedOp)
    assert row.frame is not None
    assert "view_record" not in {**a.__dict__, **b.__dict__}
    assert row.a is not None
    assert (row.a.layer, row.a.region) == ("", "part")
    assert "view_record" in a.__dict__
    assert "view_record" not in b.__dict__


def test_kept_values_tell_how_large_a_difference_is_also_from_files(tmp_path: Path) -> None:
    traces = traced(digest="part"), traced(noise=1e-4, digest="part")
    paths = [trace.save(tmp_path / f"{at}.pdlab") for at, trace in enumerate(traces)]
    for trace, path in zip(traces, paths, strict=True):
        kept, loaded = trace.record.kept_values, paddle_lab.load(path).record.kept_values
        assert kept.keys() == loaded.keys()
        assert all(np.array_equal(kept[key], loaded[key]) for key in kept)
        assert {str(array.dtype) for array in loaded.values()} == {"float32"}
    comparison = paddle_lab.compare(*paths)
    add = comparison.rows[3]
    assert add.name == "add"
    assert add.max_abs == pytest.approx(1e-4, rel=1e-2)
    assert add.max_rel == pytest.approx(1e-4 / np.tanh(1), rel=1e-2)
    assert add.cosine == pytest.approx(1, abs=1e-6)
    assert (add.ulp or 0) > 100


def test_kept_values_of_a_shape_that_no_array_has_are_refused() -> None:
    record = with_value_tables(traced(digest="part").record)
    record.strings[int(record.tables["kept_values"]["shape"][0])] = f"[0, {2**64}]"
    with pytest.raises(TraceFileError):
        take_value_tables(record)


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
    assert "Trace a has no ops" in found[0].record.origin.notices[0]
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
        factor, runs_op = 1.0, False

        @staticmethod
        def forward(_ctx: Any, x: paddle.Tensor) -> paddle.Tensor:
            return x * 2

        @staticmethod
        def backward(_ctx: Any, gradient: paddle.Tensor) -> paddle.Tensor:
            if Doubled.runs_op:
                return gradient * Doubled.factor
            return paddle.to_tensor(gradient.numpy() * np.float32(Doubled.factor))

    def trained(factor: float, *, runs_op: bool = False) -> paddle_lab.Trace:
        Doubled.factor, Doubled.runs_op = factor, runs_op
        x = paddle.to_tensor([0.5, 1.0], stop_gradient=False)
        with paddle_lab.trace(digest=True) as trace:
            y = paddle.tanh(x)
            z = paddle.exp(y)
            paddle.sum(Doubled.apply(z)).backward()
        return trace

    found = paddle_lab.compare(trained(1.0), trained(2.0))
    told = found.record.origin.notices
    assert "recorded gradient that differs is the one that ExpGradNode passes on" in told[0]
    assert told[1] == "None of the 5 ops differs."
    first = found.first
    assert isinstance(first, ComparedGradient)
    assert first.state == "different"
    # What a PyLayer passes on is not recorded, so it is what the next grad node passes on.
    assert first.name == "ExpGradNode"
    assert first.b is not None
    assert first.b.line == first.line == trained.__code__.co_firstlineno + 5
    states = [row.state for row in found.gradient_rows]
    assert states == ["equal", "different", "different"]
    doubled = found.gradient_rows[1]
    assert doubled.gradient_a is not None
    assert doubled.gradient.norm == pytest.approx(2 * doubled.gradient_a.norm)
    assert found.gradient_rows.to_pandas()["state"].tolist() == states
    assert found.findings[0].grad_node == doubled.gradient.source_node
    found = paddle_lab.compare(trained(1.0), trained(1.0))
    assert found.record.origin.notices == ["Nothing differs: all 5 ops are equal."]
    assert {row.state for row in found.gradient_rows} == {"equal"}
    # An op in the backward call that makes the gradient comes before it.
    made_by = paddle_lab.compare(trained(1.0, runs_op=True), trained(2.0, runs_op=True)).first
    assert (made_by.name, made_by.reason) == ("multiply", "Attributes were 1.0, now 2.0")


def test_a_line_of_trace_a_shows_the_source_that_ran(tmp_path: Path) -> None:
    def ran(text: str) -> paddle_lab.Trace:
        file = str(tmp_path / "step.py")
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        with paddle_lab.trace(digest=True) as trace:
            exec(compile(text, file, "exec"), {"x": paddle.ones([3]), "paddle": paddle})
        del linecache.cache[file]
        return trace

    found = paddle_lab.compare(ran("y = paddle.tanh(x)\nz = y * 2.0"),
                               ran("y = paddle.tanh(x)\nz = y * 3.0"))  # fmt: skip
    record = found.record
    (op,), (frame,) = (record.other_frames[name].tolist() for name in ("op", "frame"))
    assert found.rows[op].name == "multiply"
    other = Frame(record, frame)
    assert (other.file, other.line) == (f"{tmp_path / 'step.py'} (trace a)", 2)
    assert other.text == "z = y * 2.0"
    assert found.rows[op].frame.text == "z = y * 3.0"


def test_a_tensor_that_set_value_overwrites_is_compared_as_it_was_at_first() -> None:
    def averaged(scale: float) -> paddle_lab.Trace:
        mean, x = paddle.zeros([3]), paddle.to_tensor([1.0, 2.0, 3.0]) * scale
        with paddle_lab.trace(digest=True) as trace:
            for _ in range(2):
                mean.set_value(paddle.add(paddle.tanh(mean), x))
        return trace

    one, two = averaged(0.5), averaged(0.25)
    found = paddle_lab.compare(one, two)
    assert [row.state for row in found.rows] == ["equal", "different", "different", "different"]
    # At first only `x` differs. The second `tanh` reads another average, so it introduces nothing.
    assert found.findings[0].advice.count("It reads a tensor (float32 [3]). No op") == 1
    assert [row.origin for row in found.rows] == [""] * 4
    assert paddle_lab.compare(one, averaged(0.5)).first is None
    assert [place for place in differences(one.record, two.record) if place.what == EXTERNAL] == [
        (1, 1, EXTERNAL)
    ]
