"""Statistics of tensors are equal to NumPy's, and leave the tensors unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import paddle
import pytest

import paddle_lab
from paddle_lab.capture.evidence.values.scan import KINDS
from paddle_lab.capture.evidence.values.statistics import look_at, statistics_of
from tests.capture.native.twins import Parts, on_both_twins

STORED = dict(
    zip(
        KINDS,
        ("f2", "u2", "f4", "f8", "c8", "c16", "?", "u1", "i1", "i2", "i4", "i8"),
        strict=True,
    )
)
SIZES = [1, 7, 8, 9, 1023, 1024, 1025, 5000, 40_000]


def arbitrary_bits(kind: str, size: int) -> npt.NDArray[Any]:
    """Return an array of arbitrary bits: subnormals, infinities and NaN are among them."""
    generator = np.random.default_rng(size)
    stored = np.dtype(STORED[kind])
    raw = generator.integers(0, 256, size * stored.itemsize, dtype=np.uint8).view(stored)
    if kind == "bool":
        return generator.integers(0, 2, size).astype(np.bool_)
    if kind == "int64":  # a double holds these exactly
        raw = raw >> 12
    if kind in ("float64", "complex128"):  # sums of squares stay below infinity
        with np.errstate(all="ignore"):
            raw = np.where(np.abs(raw) > 1e150, raw * stored.type(1e-160), raw)
    raw[size // 2 :: 3] = 0
    if kind == "float32":
        raw[::5] = np.float32(1e-42)
    return raw


def magnitudes(kind: str, stored: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    if kind == "bfloat16":
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(all="ignore"):
        if stored.dtype.kind != "c":
            return stored.astype(np.float64)
        return np.hypot(stored.real.astype("f8"), stored.imag.astype("f8"))


def rows(histogram: bytes) -> list[tuple[int, int, int]]:
    return [tuple(row) for row in np.frombuffer(histogram, np.int64).reshape(-1, 3).tolist()]


@on_both_twins
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_finds_what_numpy_finds(parts: Parts, kind: str, size: int) -> None:
    stored = arbitrary_bits(kind, size)
    values = magnitudes(kind, stored)
    finite = values[np.isfinite(values)]

    found = parts.scan(stored.ctypes.data, size, KINDS.index(kind), True)

    assert found[0] == (values == 0).sum()
    assert found[1] == np.isnan(values).sum()
    assert found[2] == np.isinf(values).sum()
    assert found[3] == (finite.min() if finite.size else 0)
    assert found[4] == (finite.max() if finite.size else 0)
    np.testing.assert_allclose(found[5], finite.sum(), rtol=1e-6, atol=1e-6 * abs(found[4]))
    np.testing.assert_allclose(found[6], np.square(finite).sum(), rtol=1e-9)
    with np.errstate(over="ignore"):
        deviations = np.square(finite - finite.mean()).sum() if finite.size else 0
    np.testing.assert_allclose(found[8], deviations, rtol=1e-9)
    histogram = rows(found[7])
    for exponent, is_negative, count in histogram:
        sided = -finite if is_negative else finite
        at_least, below = np.ldexp(1.0, exponent), np.ldexp(1.0, exponent + 1)
        assert count == ((sided >= at_least) & (sided < below)).sum() > 0
    assert sum(count for *_, count in histogram) == (finite != 0).sum()
    assert histogram == sorted(histogram, key=lambda row: (-row[1], row[0]))


def test_nothing_finite_has_no_extremes() -> None:
    found = statistics_of(paddle.to_tensor([float("nan"), float("inf")]))

    assert found == (2, 0, 1, 1, 0.0, 0.0, 0.0, 0.0, 0.0)


@on_both_twins
def test_deviations_stay_precise_beside_a_large_mean(parts: Parts) -> None:
    generator = np.random.default_rng(0)
    for kind, values in {
        "float32": np.full(100_000, 0.1, "f4"),
        "float64": 1e8 + 1e-3 * generator.normal(size=100_000),
        "int64": (1 << 40) + generator.integers(-3, 4, 100_000),
    }.items():
        found = parts.scan(values.ctypes.data, values.size, KINDS.index(kind), True)

        exact = values.astype(np.longdouble)
        deviations = np.square(exact - exact.mean()).sum()
        np.testing.assert_allclose(found[8], float(deviations), rtol=1e-6, atol=1e-20)


def test_empty_undefined_and_sparse_are_passed_over() -> None:
    coordinates = paddle.to_tensor([[0, 1], [1, 0]])
    sparse = paddle.sparse.sparse_coo_tensor(coordinates, paddle.ones([2]), [2, 2])

    for tensor in (paddle.Tensor(), paddle.empty([0, 3]), sparse):
        assert statistics_of(tensor) is None


def test_views_are_told_by_what_they_show() -> None:
    whole = paddle.arange(24, dtype="float32").reshape([4, 6])
    for view in (
        whole[1:3],
        whole.transpose([1, 0]),
        whole[:, 2:4],
        paddle.ones([3]).expand([4, 3]),
        paddle.to_tensor(3.0),
    ):
        array = view.numpy()
        found = statistics_of(view)
        assert found is not None
        assert found.elements == array.size
        assert (found.smallest, found.largest) == (array.min(), array.max())
        assert found.mean == pytest.approx(array.mean())
        assert found.norm == pytest.approx(np.linalg.norm(array))


def test_of_a_sparse_gradient_the_absent_rows_are_zeros() -> None:
    table = paddle.randn([5, 3])
    table.stop_gradient = False
    (
        paddle.nn.functional.embedding(paddle.to_tensor([1, 4]), table, sparse=True) * 2
    ).sum().backward()

    assert statistics_of(table.grad) == (
        15, 9, 0, 0, 0.0, 2.0, 12 / 15, np.sqrt(24), pytest.approx(np.std([2.0] * 6 + [0.0] * 9)),
    )  # fmt: skip


def test_looking_leaves_no_op_and_no_event_in_an_open_trace() -> None:
    tensor = paddle.randn([8, 8])
    with paddle_lab.trace() as trace:
        tensor + 1
        assert look_at(tensor.transpose([1, 0]), with_histogram=True) is not None

    assert [op.name for op in trace.ops] == ["add", "transpose"]
    assert len(trace.record.tables["events"]) == 0
