"""Attributes have Paddle's own names, as its static programs show them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paddle
import paddle.nn.functional as F
import pytest
from paddle import _C_ops, nn

import paddle_lab
from paddle_lab.analysis.tables.ops import Op
from paddle_lab.capture.recorder.attributes import attribute_text
from paddle_lab.capture.tables.op_signatures import _declarations, signature_of

_PAIR = re.compile(r"(\w+)=(\[.*?\]|'.*?'|[^,]*)(?:, |$)")


def pairs(op: Op) -> dict[str, str]:
    return dict(_PAIR.findall(op.attributes))


def declared(function: Callable[[Any], Any]) -> list[tuple[str, dict[str, str | None]]]:
    """Return the ops that a static program has of a function, with the names of its attributes.

    What may be a tensor is an input there: it has a name, and its value is none.
    """
    program = paddle.static.Program()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(program, paddle.static.Program()):
            function(paddle.static.data("x", SHAPE, "float32"))
    finally:
        paddle.disable_static()
    return [
        (
            op.name().removeprefix("pd_op."),
            {
                **dict.fromkeys(op.get_input_names()),
                **{name: attribute_text([value]) for name, value in op.attrs().items()},
            },
        )
        for op in program.global_block().ops
    ]


SHAPE = [1, 4, 9, 12]
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "conv2d": lambda x: _C_ops.conv2d(x, x, [2, 3], [4, 5], "SAME", [1, 2], 1, "NCHW"),
    "depthwise_conv2d": lambda x: F.conv2d(
        x, x.transpose([1, 0, 2, 3])[..., :3, :3], groups=4, padding=2
    ),
    "max_pool2d": lambda x: F.max_pool2d(x, [2, 3], [3, 2], [1, 1], ceil_mode=True),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 3, 2, 1, exclusive=False),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, [2, 3]),
    "softmax": lambda x: F.softmax(x, axis=1),
    "log_softmax": lambda x: F.log_softmax(x, axis=1),
    "gelu": lambda x: F.gelu(x, approximate=True),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.25),
    "softplus": lambda x: F.softplus(x, beta=2.0, threshold=5.0),
    "group_norm": lambda x: F.group_norm(x, 2, epsilon=0.25),
    "layer_norm": lambda x: F.layer_norm(x, [12], epsilon=1e-4),
    "interpolate": lambda x: F.interpolate(x, [24, 30], mode="bilinear", align_corners=True),
    "pad": lambda x: F.pad(x, [1, 2, 3, 4], value=0.5),
    "unfold": lambda x: F.unfold(x, [2, 3], [1, 2], 1, 1),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2),
    "sum": lambda x: paddle.sum(x, [1, 2], paddle.float64, True),
    "mean": lambda x: paddle.mean(x, axis=[1, 2], keepdim=True),
    "max": lambda x: paddle.max(x, axis=1, keepdim=True),
    "argmax": lambda x: paddle.argmax(x, 1, True, paddle.int32),
    "topk": lambda x: paddle.topk(x, 2, axis=1, largest=False, sorted=False),
    "cumsum": lambda x: paddle.cumsum(x, axis=1),
    "matmul": lambda x: paddle.matmul(x, x, False, True),
    "transpose": lambda x: paddle.transpose(x, [0, 2, 1, 3]),
    "flatten": lambda x: paddle.flatten(x, 1, 2),
    "roll": lambda x: paddle.roll(x, [1, 2], [2, 3]),
    "slice": lambda x: paddle.slice(x, [1, 2], [0, 1], [2, 3]),
    "norm": lambda x: paddle.norm(x, p=3.0, axis=2, keepdim=True),
    "clip": lambda x: paddle.clip(x, -0.5, 0.25),
    "scale": lambda x: paddle.scale(x, 2.0, 0.5, bias_after_scale=False),
    "diagonal": lambda x: paddle.diagonal(x, 1, 2, 3),
    "tril": lambda x: paddle.tril(x, diagonal=2),
    "isclose": lambda x: paddle.isclose(x, x, 0.5, 0.25, True),
    "grid_sample": lambda x: F.grid_sample(x, x[..., :2], align_corners=False),
    "uniform": lambda x: x + paddle.uniform([9, 12], "float32", -2.0, 3.0, 7),
}


ELSEWHERE = {"out", "name", "place"}
"""A static program has its own ways for these."""
IN_PYTHON = {"keepdim": "keepdims"}
"""Python's name, where it is another than the one in C++."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_paddle_calls_them(name: str) -> None:
    with paddle_lab.trace() as trace:
        FUNCTIONS[name](paddle.randn(SHAPE))
    programs = declared(FUNCTIONS[name])
    compared = 0
    for op in trace.ops:
        own = {key: value for key, value in pairs(op).items() if key not in ELSEWHERE}
        told = [attributes for other, attributes in programs if other == op.name]
        if own and told:
            assert any(agree(own, attributes) for attributes in told), (op.name, own, told)
            compared += len(own)
    assert compared > 0


def agree(own: dict[str, str], told: dict[str, str | None]) -> bool:
    """Tell whether all names are Paddle's, and values the same where it has values."""
    for name, value in own.items():
        other = name if name in told else IN_PYTHON.get(name)
        if other not in told or not (value == "None" or is_same(value, told[other])):
            return False
    return True


def is_same(value: str, told: str | None) -> bool:
    try:
        return told is None or float(value) == pytest.approx(float(told))  # 32 bits there
    except ValueError:
        return value == told


def text_of(run: Callable[[Any], Any], name: str) -> str:
    x = paddle.ones([2, 3])
    with paddle_lab.trace() as trace:
        run(x)
    return next(op.attributes for op in trace.ops if op.name == name)


STUB = Path(paddle.__file__).parent / "_typing/libs/libpaddle/eager/ops/__init__.pyi"
UNTYPED = "scale"
"""A list of floats of the ``interp`` ops, which the stub leaves out and the program has."""


@pytest.mark.skipif(not STUB.exists(), reason="this Paddle has no stubs of its ops")
def test_every_op_agrees_with_the_stub_that_paddle_has_of_it() -> None:
    compared = 0
    for function in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if not isinstance(function, ast.FunctionDef) or function.args.vararg:
            continue
        signature = signature_of(function.name)
        if not signature:
            continue
        # A word of Python's has a mark behind it.
        told = [one.arg.removesuffix("_") for one in function.args.args]
        own = [one.name.removesuffix("_") for one in signature]
        if function.name.endswith(("_interp", "_antialias")):
            own.remove(UNTYPED)
        if own[-1:] == ["name"] != told[-1:]:
            own.pop()
        assert own == told, function.name
        compared += 1
    assert compared > 600


def test_what_stands_beside_a_tensor_has_no_name() -> None:
    """``1 - x`` and ``x - 1`` are the same call: the number may be either operand."""
    assert text_of(lambda x: 1.5 - x, "subtract") == "1.5"
    assert text_of(lambda x: x - 1.5, "subtract") == "1.5"
    assert text_of(lambda x: 2**x, "pow") == "2"


def test_a_tensor_among_the_attributes_shifts_none() -> None:
    shape, axis = paddle.to_tensor([2]), paddle.to_tensor(0)
    assert text_of(lambda _: paddle.full(shape, 1.5, "float64"), "full").startswith("value=1.5, d")
    assert text_of(lambda x: _C_ops.gather(x, axis, axis), "gather") == ""
    assert text_of(lambda x: F.layer_norm(x, 3, bias=paddle.ones([3])), "layer_norm") == (
        "scale=None, epsilon=1e-05, begin_norm_axis=1"
    )


def test_attributes_that_do_not_fit_have_no_names() -> None:
    # ``coalesce_tensor`` of the older interface: names and values in turn.
    text = text_of(lambda _: nn.LSTM(4, 5), "coalesce_tensor")
    assert text.startswith("'copy_data', True, 'use_align'")


def test_a_pylayer_may_be_called_as_an_op() -> None:
    class softmax(paddle.autograd.PyLayer):
        @staticmethod
        def forward(_ctx: Any, x: Any, factor: int) -> Any:
            return x * factor

        @staticmethod
        def backward(_ctx: Any, grad: Any) -> Any:
            return grad

    x = paddle.ones([2], dtype="float32")
    x.stop_gradient = False
    with paddle_lab.trace() as trace:
        softmax.apply(x, 3)
    assert [op.attributes for op in trace.ops if op.name == "softmax"] == ["3"]


def test_defaults_are_recorded_of_what_was_given() -> None:
    x = paddle.randn(SHAPE)
    with paddle_lab.trace() as trace:
        FUNCTIONS["conv2d"](x)
    record = trace.record
    table = record.attribute_defaults
    rows = zip(*(table[column].tolist() for column in ("op", "name", "value")), strict=True)
    assert [tuple(map(record.text, row)) for row in rows] == [
        ("conv2d", "strides", "[1, 1]"),
        ("conv2d", "paddings", "[0, 0]"),
        ("conv2d", "padding_algorithm", "'EXPLICIT'"),
        ("conv2d", "dilations", "[1, 1]"),
        ("conv2d", "groups", "1"),
        ("conv2d", "data_format", "'NCHW'"),
    ]


def test_ops_of_a_training_step_have_names() -> None:
    net = paddle.vision.models.resnet18(num_classes=4)
    attention = nn.TransformerEncoderLayer(8, 2, 16)
    both = [*net.parameters(), *attention.parameters()]
    adam = paddle.optimizer.AdamW(parameters=both, grad_clip=nn.ClipGradByGlobalNorm(1.0))
    with paddle_lab.trace() as trace:
        loss = net(paddle.randn([2, 3, 32, 32])).mean() + attention(paddle.randn([2, 3, 8])).mean()
        loss.backward()
        adam.step()
    bare = {
        op.name for op in trace.ops if op.attributes and len(pairs(op)) < op.attributes.count("=")
    }
    unnamed = {op.name for op in trace.ops if op.attributes and "=" not in op.attributes}
    assert not bare
    assert unnamed <= {"add", "subtract", "multiply", "divide", "pow", "getitem"}


def test_a_paddle_without_its_headers_names_what_python_declares(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(paddle.sysconfig, "get_include", lambda: str(tmp_path))
    for cached in (signature_of, _declarations):
        cached.cache_clear()
    try:
        assert text_of(lambda x: F.softmax(x, axis=1), "softmax") == "1, out=None"
        assert text_of(lambda x: paddle.tril(x, 1), "tril") == "diagonal=1"
    finally:
        for cached in (signature_of, _declarations):
            cached.cache_clear()
