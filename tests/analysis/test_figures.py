"""Bokeh figures of memory and gradients: complete models with the numbers of the answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import paddle
import pytest
from bokeh.core.validation import check_integrity
from bokeh.document import Document
from bokeh.embed import file_html
from bokeh.models import GlyphRenderer, HoverTool
from bokeh.resources import INLINE
from paddle import nn

import paddle_lab
from tests.analysis.memory.traces import alive_bytes, trace_of, training_step

if TYPE_CHECKING:
    from bokeh.plotting import figure


def check(plot: figure) -> None:
    """Hold a figure to Bokeh's own checks, and make a page of it."""
    document = Document()
    document.add_root(plot)
    document.validate()
    issues = check_integrity(document.models)
    assert not issues.error
    assert not issues.warning
    assert "Bokeh.embed" in file_html(plot, INLINE)


def data_of(plot: figure) -> dict[str, np.ndarray]:
    renderers = [one for one in plot.renderers if isinstance(one, GlyphRenderer)]
    return {name: np.asarray(column) for name, column in renderers[0].data_source.data.items()}


def labels_of(plot: figure) -> list[str]:
    return [item.label.value for item in plot.legend[0].items]


def test_the_kinds_are_stacked_up_to_what_was_allocated():
    memory = training_step().memory
    plot = memory.figure()
    check(plot)
    data = data_of(plot)
    kinds = ["unseen", "parameter", "gradient", "saved_activation", "temporary"]
    assert all(kind in data for kind in kinds)
    tops = [name for name in data if name.endswith("_to")]
    stacked = sum(data[name.removesuffix("_to")] for name in tops)
    assert stacked.tolist() == data["allocated"].tolist()
    assert data[tops[-1]].tolist() == data["allocated"].tolist()
    assert data["allocated"].max() == memory.peak_bytes
    at_peak = data["time_ms"].tolist().index(memory.peak_ns / 1e6)
    by_kind = {share.label: share.bytes for share in memory.by_kind()}
    assert data["saved_activation"][at_peak] == by_kind["saved_activation"]
    assert labels_of(plot)[:2] == ["before the trace, not used in it", "parameter"]
    assert plot.title.text == memory.one_line()


def test_of_very_many_changes_the_highest_are_drawn():
    random = np.random.default_rng(4)
    starts = np.sort(random.integers(0, 10_000_000, 8000)).tolist()
    sizes, durations = random.integers(1, 5000, 8000), random.integers(1, 9000, 8000)
    lives = [
        (int(size), start, start + int(duration))
        for size, start, duration in zip(sizes, starts, durations, strict=True)
    ]
    memory = trace_of(lives).memory
    data = data_of(memory.figure())
    assert 1900 < len(data["time_ms"]) <= 2002
    assert data["allocated"].max() == memory.peak_bytes
    moments = np.round(data["time_ms"] * 1e6).astype(int)
    for at in range(0, len(moments), 97):
        assert data["allocated"][at] == alive_bytes(lives, int(moments[at]))


def test_what_was_reserved_is_a_line_of_its_own():
    plot = trace_of([(100, 5, 20)], counted=4000).memory.figure()
    check(plot)
    assert "reserved" in labels_of(plot)
    assert "reserved" not in labels_of(trace_of([(100, 5, 20)]).memory.figure())


@pytest.fixture(scope="module")
def traced() -> paddle_lab.Trace:
    paddle.seed(5)
    net = nn.Sequential(*(nn.Linear(8, 8) for _ in range(5)))
    with paddle_lab.memory(grads=True) as trace:
        net(paddle.randn([4, 8])).square().mean().backward()
    return trace


def test_of_a_real_trace_both_figures_are_whole(traced):
    check(traced.memory.figure())
    check(traced.gradients.figure())
    assert data_of(traced.memory.figure())["allocated"].max() == traced.memory.peak_bytes


def test_gradients_are_drawn_layer_by_layer(traced):
    curve = traced.gradients.curve()
    plot = traced.gradients.figure()
    data = data_of(plot)
    assert data["layer"].tolist() == [point.label for point in curve]
    for at, point in enumerate(curve):
        for name, amount in (("flows_on", point.flowing), ("parameters", point.parameters)):
            if amount is None:
                assert math.isnan(data[name][at])
            else:
                assert data[name][at] == amount.rms
                assert data[f"{name}_norm"][at] == amount.norm
    assert dict(plot.xaxis[0].major_label_overrides) == dict(enumerate(data["layer"].tolist()))
    hovers = [tool for tool in plot.tools if isinstance(tool, HoverTool)]
    assert len(hovers) == 2


def test_figures_speak_chinese(traced):
    paddle_lab.language("zh")
    try:
        assert traced.memory.figure().xaxis[0].axis_label == "录制开始后的毫秒数"
        assert traced.gradients.figure().title.text == "各层的梯度（按前向顺序）"
    finally:
        paddle_lab.language("en")


def test_without_gradients_it_says_what_to_do():
    with pytest.raises(ValueError, match="grads=True"):
        training_step().gradients.figure()
