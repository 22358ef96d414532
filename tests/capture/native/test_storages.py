"""Where tensors are stored, noted in Python and in C."""

from __future__ import annotations

import time

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.capture.memory import storages  # noqa: F401  (declares the twins)
from tests.capture.native.twins import on_both_twins


def tensors():
    """Return a tensor, its view, an empty, a sparse and an undefined tensor, and a parameter."""
    whole = paddle.rand([4, 8])
    sparse = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 2]], [1.0, 2.0], [3, 3])
    undefined = paddle.framework.core.eager.Tensor()
    view = paddle.as_strided(whole, [8], [1], 8 * 4)
    parameter = paddle.create_parameter([3], "float32")
    return [whole, view, paddle.empty([0, 3]), sparse, undefined, parameter]


@on_both_twins
def test_tensors_with_one_block_are_noted_by_the_start_and_size_of_the_block(parts):
    rows, given = [], tensors()
    with paddle_lab.trace():  # lets the native part find Paddle's methods
        given[0].exp()
    begun_ns = time.perf_counter_ns()
    for key, tensor in enumerate(given):
        parts.note_storage(rows, tensor, key)
    whole, *_, parameter = given
    assert [cells for *cells, _ in rows] == [
        [0, whole.data_ptr(), 128],
        [1, whole.data_ptr(), 128],
        [5, parameter.data_ptr(), 12],
    ]
    assert (
        np.diff([begun_ns, *(time_ns for *_, time_ns in rows), time.perf_counter_ns()]) >= 0
    ).all()


def test_what_is_no_tensor_is_an_error():
    native = pytest.importorskip("paddle_lab.capture.native._native")
    with pytest.raises(TypeError, match="a list, a tensor and its row"):
        native.note_storage([], object(), 3)
