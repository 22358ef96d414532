"""Calls as lines for PaddleAPITest: each line is parsed as its parser does, and runs in Paddle."""

from __future__ import annotations

import math
import re
from typing import Any

import paddle
import pytest
from paddle.nn import functional as F

import paddle_lab
from tests.models import MODELS

_TEXT = re.compile(r'"([^"]*)"')


class Lists:
    """``list[1,2,]`` of the grammar; ``list[]`` is not Python and is replaced."""

    def __getitem__(self, items: Any) -> list[Any]:
        return list(items)


def tensor(shape: list[int], dtype: str) -> paddle.Tensor:
    """Return a tensor of random values; integers are small, because many are indices."""
    if dtype == "bool" or "int" in dtype:
        return paddle.randint(0, 2, shape).cast(dtype)
    values = paddle.rand(shape, "float32") + 0.5
    is_square = len(shape) == 2 and shape[0] == shape[1]
    return (values @ values.T + paddle.eye(shape[0]) if is_square else values).cast(dtype)


def run(line: str) -> Any:
    """Run a line, in the grammar of ``tester/api_config/parser.py``."""
    # The parser finds a text by its first letter or digit, and the text's end by the next quote.
    assert all(re.match(r"[A-Za-z0-9._+-]", text) for text in _TEXT.findall(line)), line
    assert line.endswith(", )")
    assert line.isascii()
    names = {
        "paddle": paddle, "math": math, "list": Lists(), "tuple": lambda *items: items,
        "Tensor": tensor, "Dtype": lambda dtype: dtype, "Place": lambda place: place,
        "cpu": paddle.CPUPlace(),
        **{str(one)[7:]: one for one in (paddle.float32, paddle.float64, paddle.int64, paddle.int32,
            paddle.bool, paddle.float16, paddle.bfloat16, paddle.complex64, paddle.uint8)},
    }  # fmt: skip
    return eval(line.replace("list[]", "[]"), names)


@pytest.mark.parametrize("name", ["lenet", "transformer", "selection", "linear_algebra"])
def test_each_line_of_a_model_runs(name, tmp_path):
    step = MODELS[name]()
    with paddle_lab.trace() as trace:
        step()
    path = trace.to_api_config(tmp_path / "api.txt")
    trace.save(tmp_path / "saved.pdl")
    again = paddle_lab.load(tmp_path / "saved.pdl").to_api_config(tmp_path / "again.txt")
    lines = path.read_text("ascii").splitlines()
    assert again.read_text("ascii").splitlines() == lines
    assert len(lines) == len(set(lines))
    ran = {op.name for op in trace.ops if not op.raised}
    named = {re.match(r"[\w.]+", line)[0].split(".")[-1] for line in lines}  # type: ignore[index]
    assert all(name in ran or name.startswith("__") for name in named)
    assert len(named) > 0.8 * len(ran)
    with paddle_lab.trace() as rerun, paddle.no_grad():
        for line in lines:
            run(line)
    # Each line makes the call that it was written for.
    path = rerun.to_api_config(tmp_path / "rerun.txt")
    assert set(lines) <= set(path.read_text("ascii").splitlines())


def test_a_line_has_the_arguments_of_the_call(tmp_path):
    x, y = paddle.ones([2, 3]), paddle.ones([2, 3])
    image, weight, three = paddle.ones([1, 2, 4, 4]), paddle.ones([3, 2, 3, 3]), paddle.to_tensor(3)
    square = paddle.ones([3, 3])
    with paddle_lab.trace() as trace:
        paddle.concat((x, y), axis=1)
        paddle.concat([x, y], axis=1)
        F.conv2d(image, weight, padding=1, stride=2)
        F.linear(x, square)
        F.dropout(x, 0.25)
        x[:, 1:]
        x + 2.0
        1.0 - x  # the trace does not tell it from x - 1.0
        paddle.reshape(x, [three, -1])
        x[[0, 1]]
    assert trace.to_api_config(tmp_path / "api.txt").read_text("ascii").splitlines() == [
        'paddle.concat(list[Tensor([2, 3],"float32"),Tensor([2, 3],"float32"),], axis=1, )',
        (
            'paddle.nn.functional.conv2d(x=Tensor([1, 2, 4, 4],"float32"), weight='
            'Tensor([3, 2, 3, 3],"float32"), stride=list[2,2,], padding=list[1,1,],'
            ' dilation=list[1,1,], groups=1, data_format="NCHW", )'
        ),
        'paddle.nn.functional.linear(Tensor([2, 3],"float32"), weight=Tensor([3, 3],"float32"), )',
        (
            'paddle._C_ops.dropout(Tensor([2, 3],"float32"), None, 0.25, False, "upscale_in_train"'
            ", 0, False, )"
        ),
        (
            'paddle.Tensor.__getitem__(Tensor([2, 3],"float32"), tuple(slice(None,None,None),'
            "slice(1,None,None),), )"
        ),
        'paddle.Tensor.__add__(Tensor([2, 3],"float32"), 2.0, )',
        'paddle.reshape(Tensor([2, 3],"float32"), shape=list[3,-1,], )',
    ]
