"""The bytes that grad nodes keep, compared with Paddle's ``saved_tensors_hooks``."""

from __future__ import annotations

from collections.abc import Callable

import paddle
import pytest
from paddle import Tensor, nn
from paddle.nn import functional

import paddle_lab
from paddle_lab.analysis.cost import op_costs
from paddle_lab.analysis.cost.sizes import _KNOWN

F, Op = functional, Callable[..., Tensor]
X, IMAGE, CUBE, LINE = [3, 4], [2, 4, 6, 6], [1, 2, 5, 5, 5], [4]
LABELS = [[0], [2], [1]]
_ACTIVATIONS = (
    "relu relu6 leaky_relu gelu silu elu sigmoid tanh softplus hardswish hardsigmoid "
    "hardtanh softmax log_softmax"
)
_FUNCTIONS = (
    "exp log sqrt rsqrt square abs sin cos logsumexp sum max min prod flatten cumsum tril "
    "triu assign clone"
)

OPS: dict[str, tuple[list[list[int]], Op]] = {
    "matmul": ([X, [4, 2]], paddle.matmul),
    "linear": ([X, [4, 2], [2]], F.linear),
    "bmm": ([[2, 3, 4], [2, 4, 5]], paddle.bmm),
    "mv": ([X, LINE], paddle.mv),
    "dot": ([LINE, LINE], paddle.dot),
    "addmm": ([[3, 5], X, [4, 5]], paddle.addmm),
    "conv2d": ([IMAGE, [3, 4, 3, 3]], F.conv2d),
    "conv3d": ([CUBE, [3, 2, 3, 3, 3]], F.conv3d),
    "depthwise_conv2d": ([IMAGE, [4, 1, 3, 3]], lambda x, w: F.conv2d(x, w, groups=4)),
    "conv2d_transpose": ([IMAGE, [4, 3, 3, 3]], F.conv2d_transpose),
    "conv3d_transpose": ([CUBE, [2, 3, 3, 3, 3]], F.conv3d_transpose),
    "depthwise_conv2d_transpose": (
        [IMAGE, [4, 1, 3, 3]],
        lambda x, w: F.conv2d_transpose(x, w, groups=4),
    ),
    "add": ([X, X], lambda x, y: x + y),
    "subtract": ([X, LINE], lambda x, y: x - y),
    "multiply": ([X, X], lambda x, y: x * y),
    "divide": ([X, X], lambda x, y: x / y),
    "scale": ([X], lambda x: paddle.scale(x, 2.0)),
    "pow": ([X], lambda x: x**3),
    "maximum": ([X, X], paddle.maximum),
    "minimum": ([X, X], paddle.minimum),
    **{name: ([X], getattr(F, name)) for name in _ACTIVATIONS.split()},
    **{name: ([X], getattr(paddle, name)) for name in _FUNCTIONS.split()},
    "clip": ([X], lambda x: x.clip(0.3, 0.6)),
    "mean": ([X], lambda x: x.mean(0)),
    # The hook is in the module: the name is looked up when it runs.
    "mean_all": ([X], lambda x: paddle._C_ops.mean_all(x)),  # noqa: PLW0108
    "cross_entropy_with_softmax": (
        [X],
        lambda x: F.softmax_with_cross_entropy(x, paddle.to_tensor(LABELS)),
    ),
    "reshape": ([X], lambda x: x.reshape([12])),
    "transpose": ([X], lambda x: x.transpose([1, 0])),
    "concat": ([X, X], lambda *all_: paddle.concat(all_)),
    "stack": ([X, X], lambda *all_: paddle.stack(all_)),
    "split": ([X], lambda x: paddle.split(x, [1, 2])[0]),
    "split_with_num": ([X], lambda x: paddle.split(x, 3)[0]),
    "slice": ([X], lambda x: paddle.slice(x, [0], [0], [2])),
    "getitem": ([X], lambda x: x[0:2]),
    "getitem of numbers": ([X], lambda x: x[1, -1]),
    "getitem of an ellipsis": ([X], lambda x: x[..., 0]),
    "squeeze": ([[1, 4]], paddle.squeeze),
    "unsqueeze": ([X], lambda x: x.unsqueeze(0)),
    "expand": ([[1, 4]], lambda x: x.expand([3, 4])),
    "tile": ([X], lambda x: x.tile([2, 1])),
    "unbind": ([X], lambda x: x.unbind()[0]),
    "cast": ([X], lambda x: x.astype("float64")),
    "where": ([X, X], lambda x, y: paddle.where(paddle.ones(X, "bool"), x, y)),
    "gather": ([X], lambda x: paddle.gather(x, paddle.to_tensor([0, 2]))),
    "index_select": ([X], lambda x: paddle.index_select(x, paddle.to_tensor([0, 2]))),
    "embedding": ([[5, 4]], lambda w: F.embedding(paddle.to_tensor([0, 3]), w)),
    "pool2d": ([IMAGE], lambda x: F.max_pool2d(x, 2)),
    "pool2d of averages": ([IMAGE], lambda x: F.avg_pool2d(x, 2)),
    "bilinear_interp": ([IMAGE], lambda x: F.interpolate(x, scale_factor=2, mode="bilinear")),
    "nearest_interp": ([IMAGE], lambda x: F.interpolate(x, scale_factor=2)),
    "pad": ([X], lambda x: paddle._C_ops.pad(x, [1, 1, 1, 1], 0.0)),
    "pad3d": ([IMAGE], lambda x: F.pad(x, [1, 1, 1, 1], mode="reflect")),
    "p_norm": ([X], lambda x: paddle.linalg.norm(x, 2, 0)),
    "prelu": ([IMAGE, LINE], F.prelu),
    "dropout": ([X], F.dropout),
    "dropout in evaluation": ([X], lambda x: F.dropout(x, training=False)),
    "layer_norm": ([[2, 3, 4], LINE, LINE], lambda x, w, b: F.layer_norm(x, 4, w, b)),
    "layer_norm alone": ([[2, 3, 4]], lambda x: F.layer_norm(x, [3, 4])),
    "multiply by a number": ([X], lambda x: x * 2),
    "multiply by itself": ([X], lambda x: x * x),
    "relu_": ([X], F.relu_),
    "nothing without gradients": ([X], lambda x: paddle.exp(x.detach())),
}


@pytest.mark.parametrize("name", OPS)
def test_saved_bytes_are_those_that_paddle_saves(name: str) -> None:
    shapes, op = OPS[name]
    saved: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        saved[tensor.data_ptr()] = tensor.size * tensor.element_size()
        return tensor

    inputs = _inputs(shapes)
    with paddle.autograd.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = op(*inputs)
    traced = _inputs(shapes)
    with paddle_lab.trace(check="none") as trace:
        again = op(*traced)
    del output, again
    costs = op_costs(trace.record)
    names = [trace.record.text(code) for code in trace.record.ops["name"]]
    told = [
        int(size)
        for op_name, size in zip(names, costs["saved_bytes"], strict=True)
        if op_name == name.split(maxsplit=1)[0] or " " in name
    ]
    assert told
    assert sum(told) == sum(saved.values())


@pytest.mark.parametrize("index", [[0, 2], paddle.to_tensor([0, 2]), ([0, 1], slice(1))])
def test_what_an_index_of_values_keeps_is_not_known(index: object) -> None:
    (x,) = _inputs([X])
    with paddle_lab.trace(check="none") as trace:
        x[index]
    assert op_costs(trace.record)["saved_bytes"][-1] == -1


def test_every_op_that_is_known_was_asked() -> None:
    asked = {name.split()[0] for name in OPS}
    assert {"full_", *asked} >= _KNOWN


def test_a_batch_normalisation_keeps_its_input_and_the_statistics_of_the_batch() -> None:
    norm, x = nn.BatchNorm2D(3), paddle.ones([2, 3, 4, 4])
    with paddle_lab.trace(check="none") as trace:
        norm(x)
    assert op_costs(trace.record)["saved_bytes"].tolist() == [x.size * 4 + 2 * 3 * 4]


def _inputs(shapes: list[list[int]]) -> list[Tensor]:
    """Return tensors that an op made, and not parameters."""
    made = []
    for shape in shapes:
        leaf = paddle.rand(shape) * 0.5 + 0.25
        leaf.stop_gradient = False
        made.append(leaf * 1.0)
    return made
