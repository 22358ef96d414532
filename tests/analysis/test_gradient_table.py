"""``trace.gradients`` and its curve have the gradients that Paddle computes in real networks."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from paddle import nn

import paddle_lab


class Net(nn.Layer):
    """A net with three layers of its own and one function between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.second = nn.Linear(8, 8)
        self.last = nn.Linear(8, 1)

    def forward(self, data: paddle.Tensor) -> paddle.Tensor:
        hidden = nn.functional.relu(self.first(data))
        return self.last(self.second(hidden))


@pytest.fixture(scope="module")
def traced() -> tuple[paddle_lab.Trace, Net]:
    paddle.seed(5)
    net = Net()
    data = paddle.randn([16, 4])
    with paddle_lab.trace(grads=True) as trace:
        net(data).square().mean().backward()
    return trace, net


def test_a_parameters_gradient_is_told_by_its_path(traced):
    trace, net = traced
    by_path = {row.parameter: row for row in trace.gradients if row.parameter}

    for path, parameter in net.named_parameters():
        gradient = parameter.grad.numpy()
        row = by_path[path]
        assert row.shape == gradient.shape
        assert row.dtype == "float32"
        assert (row.smallest, row.largest) == (gradient.min(), gradient.max())
        assert row.norm == pytest.approx(np.linalg.norm(gradient), rel=1e-6)
        assert row.zero_share == (gradient == 0).mean()
        assert row.layer == path.rpartition(".")[0]
        assert row.op is not None
        assert row.frame is not None
        assert row.frame.file == __file__
        counted = sum(bucket.count for bucket in row.histogram)
        assert counted == (gradient != 0).sum()


def test_the_first_row_is_what_the_call_began_with(traced):
    trace, _ = traced
    start = trace.gradients[0]

    assert (start.source, start.target, start.grad_edge, start.op) == (
        "",
        "MeanGradNode",
        None,
        None,
    )
    assert (start.shape, start.norm, start.line) == ((), 1.0, 0)


def test_a_histogram_begins_with_the_most_negative(traced):
    trace, _ = traced
    row = next(row for row in trace.gradients if row.parameter == "second.weight")

    middles = [
        (-1.5 if bucket.is_negative else 1.5) * 2.0**bucket.exponent for bucket in row.histogram
    ]
    assert middles == sorted(middles)
    assert middles[0] < 0 < middles[-1]


def test_the_curve_goes_from_the_first_layer_to_the_last(traced):
    trace, net = traced
    curve = trace.gradients.curve()

    labels = [point.label for point in curve]
    assert labels[0] == "first"
    assert [label for label in labels if label in ("first", "second", "last")] == [
        "first",
        "second",
        "last",
    ]
    last = next(point for point in curve if point.label == "last")
    gradients = [net.last.weight.grad.numpy(), net.last.bias.grad.numpy()]
    whole = np.concatenate([gradient.ravel() for gradient in gradients])
    assert last.layer_class == "Linear"
    assert last.parameters is not None
    assert last.parameters.norm == pytest.approx(np.linalg.norm(whole), rel=1e-5)
    assert last.parameters.elements == whole.size
    assert last.flowing is not None
    assert last.flowing.elements == 16 * 8
    assert curve[0].flowing is None  # nothing before the first layer wants a gradient


def test_tables_can_be_read_in_text_html_and_pandas(traced):
    trace, _ = traced

    frame = trace.gradients.to_pandas()
    assert len(frame) == len(trace.gradients)
    assert frame.loc[0, "norm"] == 1.0
    assert "second.weight" in repr(trace.gradients)
    assert "<table>" in trace.gradients._repr_html_()
    assert trace.gradients.curve().to_pandas()["layer"].iloc[0] == "first"
    assert "Linear" in repr(trace.gradients.curve())


def test_without_gradients_it_says_how_to_get_them():
    with paddle_lab.trace() as trace:
        paddle.ones([2]) + 1

    assert "grads=True" in repr(trace.gradients)
    assert len(trace.gradients) == 0
    with pytest.raises(ValueError, match="grads=True"):
        trace.gradients.curve()


def test_gradients_can_be_saved_and_loaded(traced, tmp_path):
    trace, _ = traced
    loaded = paddle_lab.load(trace.save(tmp_path / "trace.ptrace"))

    assert repr(loaded.gradients) == repr(trace.gradients)
    assert loaded.gradients[3].histogram == trace.gradients[3].histogram


def sigmoids(depth: int, *, scale: float, dtype: str = "float32") -> paddle_lab.Trace:
    paddle.seed(1)
    linears = [nn.Linear(16, 16) for _ in range(depth)]
    for linear in linears:
        linear.weight.set_value(linear.weight * scale)
        linear.to(dtype=dtype)
    hidden = paddle.randn([4, 16]).astype(dtype)
    with paddle_lab.trace(check=["gradient-scale"]) as trace:
        for linear in linears:
            hidden = linear(hidden)
        hidden.sum().backward()
    return trace


@pytest.mark.parametrize(("scale", "word"), [(0.1, "shrinks"), (12.0, "grows")])
def test_a_drift_over_depth_is_worth_knowing(scale, word):
    (finding,) = sigmoids(12, scale=scale).findings

    assert (finding.kind, finding.severity) == ("gradient-scale", "info")
    assert word in finding.message


@pytest.mark.parametrize(("scale", "words"), [(0.001, "fell to zero"), (1e6, "overflowed")])
def test_a_gradient_lost_to_its_size_is_an_alarm(scale, words):
    findings = [
        finding for finding in sigmoids(24, scale=scale).findings if finding.severity == "warning"
    ]

    assert [finding.kind for finding in findings] == ["gradient-scale"]
    assert words in findings[0].message


def test_a_healthy_depth_and_dead_units_are_no_news():
    assert sigmoids(12, scale=1.0).findings == []
    data = paddle.randn([4, 4])
    data.stop_gradient = False
    with paddle_lab.trace(check=["gradient-scale"]) as trace:
        nn.functional.relu(data - 100).sum().backward()
    assert trace.findings == []


def test_ops_of_a_loss_are_no_layers():
    net = nn.Linear(4, 4)
    with paddle_lab.trace(check=["gradient-scale"]) as trace:
        loss = net(paddle.ones([64, 4]))
        for _ in range(3):
            loss = (loss.reshape([64, -1]).mean() / 1e3).expand([64, 4])
        loss.sum().backward()
    assert len(trace.gradients.curve()) > 6
    assert trace.findings == []
