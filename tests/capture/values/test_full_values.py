"""``values=True`` and ``values="a layer or region"``, compared with NumPy."""

from __future__ import annotations

import gc

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.distributed.fleet.utils import recompute

import paddle_lab
from paddle_lab.capture.evidence.values import collector

DTYPES = [
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
    "bool", "uint8", "int8", "int16", "int32", "int64",
]  # fmt: skip


def wide(tensor):
    """Return the finite values that statistics are about, in double precision."""
    if tensor.dtype == paddle.bfloat16:
        tensor = tensor.astype("float32")
    values = tensor.numpy()
    values = np.abs(values.astype("complex128")) if np.iscomplexobj(values) else values
    return values.astype("float64")


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_statistic_is_that_of_numpy(dtype):
    generator = np.random.default_rng(DTYPES.index(dtype))
    array = generator.normal(3, 20, [7, 30])
    array[0, ::4] = 0
    if "float" in dtype:
        array[1, 3], array[2, 5], array[4, 1] = np.nan, np.inf, -np.inf
    array = np.abs(array) if dtype in ("bool", "uint8") else array
    source = paddle.to_tensor(array.astype("complex128" if "complex" in dtype else "float64"))
    source = source.astype(dtype)
    with paddle_lab.trace(check="none", values=True) as trace:
        made = source.flatten()

    value = trace.values[-1]
    values = wide(made)
    finite = values[np.isfinite(values)]
    assert (value.op_name, value.dtype, value.shape) == ("flatten", dtype, (210,))
    assert value.elements == values.size
    assert value.zeros == (values == 0).sum() > 0
    assert value.nans == np.isnan(values).sum()
    assert value.infs == np.isinf(values).sum()
    assert value.smallest == np.float32(finite.min())
    assert value.largest == np.float32(finite.max())
    assert value.mean == pytest.approx(finite.mean(), rel=1e-6)
    assert value.deviation == pytest.approx(finite.std(), rel=1e-6)
    assert value.norm == pytest.approx(np.linalg.norm(finite), rel=1e-6)
    for bucket in value.histogram:
        sided = -finite if bucket.is_negative else finite
        low, high = 2.0**bucket.exponent, 2.0 ** (bucket.exponent + 1)
        assert bucket.count == ((sided >= low) & (sided < high)).sum() > 0
    assert sum(bucket.count for bucket in value.histogram) == (finite != 0).sum()


def test_a_later_write_in_place_does_not_change_what_was_told():
    with paddle_lab.trace(check="none", values=True) as trace:
        tensor = paddle.full([4], 2.0)
        tensor.add_(paddle.full([4], 5.0))
        tensor.zero_()

    told = [value.largest for value in trace.values if value.tensor.kind == "activation"]
    assert sorted(told) == [0.0, 2.0, 5.0, 7.0]


def test_a_check_alone_tells_no_deviation():
    with paddle_lab.trace(check="nan-origin") as trace:
        paddle.ones([2])
    (value,) = trace.values
    assert value.deviation is None
    assert value.histogram == []


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        hidden = self.body(x)
        with paddle_lab.region("between"):
            hidden = hidden * 2
        return self.head(hidden).exp()


@pytest.mark.parametrize(
    ("named", "ops"),
    [
        ("body", ["linear", "relu"]),
        ("body.1", ["relu"]),
        ("net.body.0", ["linear"]),
        ("net", ["linear", "relu", "multiply", "linear", "exp"]),
        ("between", ["multiply"]),
    ],
)
def test_a_layer_or_region_confines_it(named, ops):
    net = Net()
    with paddle_lab.trace(check="none", values=named) as trace:
        for _ in range(2):
            net(paddle.ones([3, 4])).sum()

    assert [value.op_name for value in trace.values if value.op] == ops * 2
    assert not trace.record.origin.notices


def test_a_check_still_sees_what_lies_outside_of_it():
    net = Net()
    with paddle_lab.trace(check="nan-origin", values="head") as trace:
        paddle.log(net(paddle.ones([3, 4])) - 1e9)

    assert [finding.kind for finding in trace.findings] == ["nan-origin"]
    known = {value.op_name for value in trace.values if value.deviation is not None}
    assert known == {"", "linear"}


def test_an_unknown_name_is_told_with_the_nearest():
    net = Net()
    with paddle_lab.trace(check="none", values="bodi") as trace:
        net(paddle.ones([3, 4]))
    assert len(trace.values) == 0
    assert trace.record.origin.notices == [
        "No values were recorded: no layer or region named 'bodi' ran; did you mean body?"
    ]


def test_worst_begins_where_nan_does():
    with paddle_lab.trace(check="none", values=True) as trace:
        big = paddle.full([3], 1e30)
        broken = paddle.log(-big)
        broken + 1

    assert [value.op_name for value in trace.values.worst][:3] == ["log", "add", "full"]
    assert trace.values.to_pandas()["nans"].sum() == 6
    assert "std. dev." in str(trace.values)
    assert "log [3], – … –>" in repr(trace.values.worst[0])  # nothing in it is finite


@pytest.mark.parametrize("check", ["none", "all"])
def test_a_data_frame_has_what_the_rows_have(check):
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4))
    with paddle_lab.trace(check=check, values=check == "none") as trace:
        paddle.log(net(paddle.randn([5, 3])).mean() - 9).backward()
    frame = trace.values.worst.to_pandas().rename(columns={"op": "op_name"})
    assert len(frame) == len(trace.values) > 3
    for (key, cells), row in zip(frame.iterrows(), trace.values.worst, strict=True):
        assert key == row.key
        for name, cell in cells.items():
            expected = getattr(row, name)
            assert cell == expected or (expected is None and np.isnan(cell)), name


class Double(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):  # noqa: ARG004
        return x * 2

    @staticmethod
    def backward(ctx, gradient):  # noqa: ARG004
        return gradient * 2


def training(steps=3):
    """Train with bfloat16, dropout, a PyLayer, recompute and to_static; return the results."""
    paddle.seed(7)
    first, second, compiled = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 1)
    run = paddle.jit.to_static(compiled, full_graph=True)
    parameters = [*first.parameters(), *second.parameters(), *compiled.parameters()]
    optimizer = paddle.optimizer.AdamW(0.01, parameters=parameters)
    for _ in range(steps):
        hidden = nn.functional.dropout(first(paddle.rand([5, 6])), 0.3)
        hidden = hidden.astype("bfloat16").astype("float32")
        hidden = recompute(lambda x: Double.apply(second(x).tanh()), hidden)
        loss = run(hidden.astype("float32")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    flags = [parameter.stop_gradient for parameter in parameters]
    return [parameter.numpy() for parameter in parameters], flags, paddle.rand([4]).numpy()


def test_training_is_the_same_and_no_op_of_ours_is_seen():
    plain, plain_flags, plain_random = training()
    gc.collect()
    with paddle_lab.memory(check="none") as alone:
        training()
    gc.collect()
    with paddle_lab.memory(check="none", values=True) as trace:
        watched, flags, random = training()

    assert all(map(np.array_equal, plain, watched))
    assert flags == plain_flags
    assert np.array_equal(random, plain_random)
    assert [op.name for op in trace.ops] == [op.name for op in alone.ops]
    sizes = [[block.bytes for block in one.allocations] for one in (alone, trace)]
    assert sorted(sizes[0]) == sorted(sizes[1])
    assert not trace.record.origin.notices
    assert {"bfloat16", "float32"} <= {value.dtype for value in trace.values}


def test_a_failure_is_told_and_the_trace_goes_on(monkeypatch):
    def fails(*_args, **_kwargs):
        raise OSError("no such memory")

    monkeypatch.setattr(collector, "look_at", fails)
    with paddle_lab.trace(check="none", values=True) as trace:
        paddle.ones([2]) + 1
        paddle.ones([2]) * 3

    assert len(trace.ops) == 4
    assert len(trace.values) == 0
    (notice,) = trace.record.origin.notices
    assert "OSError: no such memory" in notice


def test_only_values_of_kept_ops_are_kept():
    with paddle_lab.trace(check="none", values="part", limit=20) as trace:
        for number in range(60):
            with paddle_lab.region("part"):
                made = paddle.full([2], float(number))
            made.abs()

    assert {value.op_name for value in trace.values} == {"full"}
    assert trace.values[-1].largest == 59.0
    assert len(trace.values) == sum(op.name == "full" for op in trace.ops)
