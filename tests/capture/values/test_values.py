"""Recorded statistics of tensors are equal to NumPy's; the tensors stay unchanged."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.trace.floats import from_bits
from paddle_lab.trace.schema import ROLES, TENSOR_KINDS
from tests.capture.observation import digest
from tests.models import MODELS, STATIC_MODELS

DTYPES = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
COUNTS = ("elements", "zeros", "nans", "infs")
FLOATS = ("smallest", "largest", "mean", "norm")


@contextmanager
def traced():
    with paddle_lab.trace(check="nan-origin") as trace:
        yield trace


def rows_of(trace, tensor):
    stats = trace.record.value_stats
    return [
        {
            **{name: int(stats[name][row]) for name in COUNTS},
            **{name: float(from_bits(stats[name][row : row + 1])[0]) for name in FLOATS},
        }
        for row in np.flatnonzero(stats["tensor"] == tensor)
    ]


def output_rows(trace, op):
    """Return the rows of the tensors that an op made."""
    uses = trace.record.uses
    tensors = uses["tensor"][(uses["op"] == op) & (uses["role"] == ROLES.index("output"))]
    return [row for tensor in tensors for row in rows_of(trace, tensor)]


def described(values):
    """Return NumPy's statistics of an array, in the form of ``value_stats``."""
    wide = np.abs(values) if np.iscomplexobj(values) else values
    wide = wide.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    return {
        "elements": wide.size,
        "zeros": int((wide == 0).sum()),
        "nans": int(np.isnan(wide).sum()),
        "infs": int(np.isinf(wide).sum()),
        "smallest": finite.min() if finite.size else 0.0,
        "largest": finite.max() if finite.size else 0.0,
        "mean": finite.mean() if finite.size else 0.0,
        "norm": np.sqrt((finite**2).sum()),
    }


def numpy_of(tensor):
    if tensor.dtype == paddle.bfloat16:
        return paddle.cast(tensor, "float32").numpy()
    return tensor.numpy()


def spoiled(shape, dtype, generator):
    """Return an array with zeros, NaN and Inf here and there."""
    values = generator.normal(size=shape)
    if dtype.startswith("complex"):
        values = values + 1j * generator.normal(size=shape)
    kind = generator.integers(0, 8, size=shape)
    return np.where(
        kind == 0, 0.0, np.where(kind == 1, np.nan, np.where(kind == 2, np.inf, values))
    )


LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.transpose([2, 0, 1]),
    "strided": lambda x: x[:, ::2, 1:],
    "one number": lambda x: x[1, 2, 3],
    "a row": lambda x: x[1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_are_those_of_numpy(dtype, layout):
    array = spoiled((3, 4, 5), dtype, np.random.default_rng(sum(map(ord, dtype + layout))))
    wide = "complex128" if dtype.startswith("complex") else "float64"
    whole = paddle.to_tensor(array.astype(wide)).astype(dtype)
    tensor = LAYOUTS[layout](whole)
    with traced() as trace:
        paddle.isfinite(tensor)  # meets it as it is

    (row,) = rows_of(trace, 0)
    expected = described(numpy_of(tensor))
    assert {name: row[name] for name in COUNTS} == {name: expected[name] for name in COUNTS}
    for name in FLOATS:
        assert row[name] == pytest.approx(expected[name], rel=1e-5, abs=1e-6), name


def test_what_is_of_integers_or_empty_has_no_numbers():
    count, nothing = paddle.arange(5), paddle.zeros([0, 3])
    with traced() as trace:
        _ = count + 1, nothing * 2

    assert len(trace.ops) == 2
    assert len(trace.record.value_stats) == 0


def test_several_outputs_have_a_row_each():
    whole = paddle.arange(6, dtype="float32")
    with traced() as trace:
        paddle.split(whole, [1, 2, 3])

    assert [row["elements"] for row in output_rows(trace, 0)] == [1, 2, 3]


def test_a_tensor_modified_in_place_has_its_numbers_before_and_after():
    with traced() as trace:
        tensor = paddle.zeros([3])
        tensor[0] = 7.0
        tensor.add_(paddle.ones([3]))

    largest = [output_rows(trace, op)[0]["largest"] for op in (0, 1, 3)]
    assert largest == [0.0, 7.0, 8.0]


def test_a_tensor_written_to_by_no_op_is_looked_at_again():
    tensor = paddle.zeros([2])
    with traced() as trace:
        _ = tensor + 1
        tensor.set_value(paddle.full([2], 5.0))
        _ = tensor + 1

    assert [row["largest"] for row in rows_of(trace, 0)] == [0.0, 5.0]


def test_parameters_and_gradients_that_an_optimizer_reads_have_numbers():
    layer = paddle.nn.Linear(2, 2)
    optimizer = paddle.optimizer.Adam(parameters=layer.parameters())
    with traced() as trace:
        layer(paddle.ones([1, 2])).sum().backward()
        optimizer.step()

    record = trace.record
    updates = [op.key for op in trace.ops if op.name == "adam_"]
    read = record.uses["tensor"][np.isin(record.uses["op"], updates)]
    kinds = [TENSOR_KINDS.index(kind) for kind in ("parameter", "gradient")]
    read = read[np.isin(record.tensors["kind"][read], kinds)]  # no check reads the moments
    assert len(updates) == 2
    assert all(len(rows_of(trace, tensor)) == 1 for tensor in read)


def test_undefined_tensors_are_left_alone():
    with traced() as trace:
        undefined = paddle.Tensor()
        layer = paddle.nn.Linear(2, 2)  # its parameters are undefined until they are initialised
        layer(paddle.ones([1, 2]))
        assert not undefined._is_initialized()

    assert not trace.record.origin.notices
    assert len(trace.record.value_stats) > 0


def test_no_op_of_ours_is_in_the_trace():
    layer, data = paddle.nn.Linear(3, 3), paddle.ones([2, 3])

    def work():
        layer(data).transpose([1, 0]).exp().sum().backward()

    with paddle_lab.trace(check="none") as plain:
        work()
    with traced() as looked_at:
        work()

    assert [op.name for op in looked_at.ops] == [op.name for op in plain.ops]


SOME = ["lenet", "transformer_encoder", "lstm", "gan", "complex_spectrum", "bfloat16", "in_place",
        "recompute_reentrant", "sparse_values", "lenet_full_graph"]  # fmt: skip


@pytest.mark.parametrize("name", SOME)
def test_loss_and_gradients_are_bit_identical(name):
    build = {**MODELS, **STATIC_MODELS}[name]

    def two_steps():
        step = build()
        return [digest(step()) for _ in range(2)]

    plain = two_steps()
    with traced() as trace:
        looked_at = two_steps()

    assert looked_at == plain
    assert trace.findings == []
    assert not trace.record.origin.notices
    assert len(trace.record.value_stats) > 0


def test_nobody_looks_any_more_once_the_trace_is_over():
    with paddle_lab.trace(check="none") as outer:
        with traced() as inner:
            paddle.ones([2])
        paddle.ones([2])

    assert len(outer.ops) == 2
    assert len(outer.record.value_stats) == 0
    assert len(inner.record.value_stats) == 1
