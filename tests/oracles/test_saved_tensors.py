"""Which tensors grad nodes save, tested with Paddle: change one after the op, then run backward."""

from __future__ import annotations

from collections.abc import Callable

import paddle
import pytest
from paddle.nn import functional as F

import paddle_lab
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.saved.saved_tensors import saved_tensors

Op = Callable[..., paddle.Tensor]

OPS: dict[str, tuple[list[list[int]], Op]] = {
    "add": ([[3, 4], [3, 4]], lambda x, y: x + y),
    "multiply": ([[3, 4], [3, 4]], lambda x, y: x * y),
    "divide": ([[3, 4], [3, 4]], lambda x, y: x / y),
    "matmul": ([[3, 4], [4, 2]], paddle.matmul),
    "linear": ([[3, 4], [4, 2], [2]], F.linear),
    "pow": ([[3, 4]], lambda x: x**2),
    "exp": ([[3, 4]], paddle.exp),
    "log": ([[3, 4]], paddle.log),
    "tanh": ([[3, 4]], paddle.tanh),
    "relu": ([[3, 4]], F.relu),
    "sigmoid": ([[3, 4]], F.sigmoid),
    "silu": ([[3, 4]], F.silu),
    "gelu": ([[3, 4]], F.gelu),
    "softmax": ([[3, 4]], F.softmax),
    "log_softmax": ([[3, 4]], F.log_softmax),
    "sum": ([[3, 4]], paddle.sum),
    "mean": ([[3, 4]], paddle.mean),
    "max": ([[3, 4]], paddle.max),
    "prod": ([[3, 4]], paddle.prod),
    "logsumexp": ([[3, 4]], paddle.logsumexp),
    "reshape": ([[3, 4]], lambda x: x.reshape([12])),
    "transpose": ([[3, 4]], lambda x: x.transpose([1, 0])),
    "slice": ([[3, 4]], lambda x: x[0:2]),
    "concat": ([[3, 4], [3, 4]], lambda x, y: paddle.concat([x, y])),
    "expand": ([[1, 4]], lambda x: x.expand([3, 4])),
    "clip": ([[3, 4]], lambda x: x.clip(0.3, 0.6)),
    "maximum": ([[3, 4], [3, 4]], paddle.maximum),
    "conv2d": ([[1, 2, 5, 5], [3, 2, 3, 3]], F.conv2d),
    "max_pool": ([[1, 2, 4, 4]], lambda x: F.max_pool2d(x, 2)),
    "layer_norm": ([[3, 4], [4], [4]], lambda x, w, b: F.layer_norm(x, 4, w, b)),
    "cumprod": ([[3, 4]], lambda x: paddle.cumprod(x, 0)),
    "sin": ([[3, 4]], paddle.sin),
    "sqrt": ([[3, 4]], paddle.sqrt),
}


@pytest.mark.parametrize("name", OPS)
def test_what_is_checked_is_what_paddle_checks(name: str) -> None:
    shapes, op = OPS[name]
    with paddle_lab.trace(check="none") as trace:
        inputs = _inputs(shapes)
        output = op(*inputs)
    facts = Facts(trace.record)
    key = facts.op_count - 1
    known = [*facts.inputs(key), *facts.outputs(key)[:1]]
    assert len(known) == len(inputs) + 1
    del output
    said = {known.index(tensor) for tensor in saved_tensors(facts, key) if tensor in known}

    checked = {index for index in range(len(shapes) + 1) if _raises(shapes, op, index)}

    assert said == checked


def _inputs(shapes: list[list[int]]) -> list[paddle.Tensor]:
    inputs = []
    for shape in shapes:
        leaf = paddle.rand(shape) * 0.5 + 0.25
        leaf.stop_gradient = False
        inputs.append(leaf * 1.0)
    return inputs


def _raises(shapes: list[list[int]], op: Op, changed: int) -> bool:
    inputs = _inputs(shapes)
    output = op(*inputs)
    [*inputs, output][changed]._bump_inplace_version()
    try:
        output.sum().backward()
    except RuntimeError as error:
        return "modified by an inplace operation" in str(error)
    return False
