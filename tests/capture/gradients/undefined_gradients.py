"""Backward passes with undefined gradients, or several gradients in one slot; run as a program.

Accessing an undefined gradient, or replacing one of several in a slot, crashes the process, so the
test runs these cases in a separate process. Each case returns the tensor to call backward on.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import paddle
from paddle import Tensor, nn
from paddle.nn import functional as F

import paddle_lab

CASES: list[Callable[[], Tensor]] = []
leaves: list[Tensor] = []


def leaf(*shape: int) -> Tensor:
    tensor = paddle.randn(list(shape))
    tensor.stop_gradient = False
    leaves.append(tensor)
    return tensor


def case(build: Callable[[], Tensor]) -> Callable[[], Tensor]:
    CASES.append(build)
    return build


class Halves(paddle.autograd.PyLayer):
    """Two inputs, two outputs, of which one is used."""

    @staticmethod
    def forward(_ctx: Any, one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
        return one * 2, other * 3

    @staticmethod
    def backward(_ctx: Any, one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
        return one * 2, other * 3


def simple(name: str, build: Callable[[], Any]) -> None:
    def run() -> Tensor:
        made = build()
        made = made[0] if isinstance(made, (list, tuple)) else made
        return made.abs().sum()

    run.__name__ = name
    CASES.append(run)


TWO = paddle.to_tensor([0, 2])
simple("concat", lambda: paddle.concat([leaf(2, 3), leaf(2, 3) * 2]))
simple("concat of one", lambda: paddle.concat([leaf(2, 3) * 2]))
simple("concat with a constant", lambda: paddle.concat([leaf(2, 3) * 2, paddle.ones([2, 3])]))
simple("concat of one thing twice", lambda: paddle.concat([leaf(2, 3) * 2] * 2))
simple("stack", lambda: paddle.stack([leaf(2, 3), leaf(2, 3) * 2]))
simple("add_n", lambda: paddle.add_n([leaf(2, 3), leaf(2, 3) * 2]))
simple("meshgrid", lambda: operator.mul(*paddle.meshgrid(leaf(2), leaf(3) * 2)))
simple("einsum", lambda: paddle.einsum("ij,jk->ik", leaf(2, 3), leaf(3, 2) * 2))
simple("multi_dot", lambda: paddle.linalg.multi_dot([leaf(2, 3) * 2, leaf(3, 4), leaf(4, 2)]))
simple("broadcast", lambda: operator.mul(*paddle.broadcast_tensors([leaf(1, 3) * 2, leaf(2, 1)])))
PICK = paddle.to_tensor([[0], [1]], dtype="int32")
simple("multiplex", lambda: paddle.multiplex([leaf(2, 3), leaf(2, 3)], PICK))
simple("lstm", lambda: nn.LSTM(3, 4, num_layers=2)(leaf(2, 5, 3)))
simple("gru", lambda: nn.GRU(3, 4, direction="bidirect")(leaf(2, 5, 3)))
simple("split", lambda: paddle.split(leaf(6, 2) * 2, 3))
simple("unbind", lambda: paddle.unbind(leaf(2, 2) * 2))
simple("unstack", lambda: operator.mul(*paddle.unstack(leaf(2, 2) * 2)))
simple("topk", lambda: paddle.topk(leaf(4, 5) * 2, 2))
simple("svd", lambda: paddle.linalg.svd(leaf(3, 3) * 2)[1])
simple("index", lambda: (leaf(4, 3) * 2)[TWO])
simple("index by two", lambda: (leaf(4, 3) * 2)[TWO, TWO])
simple("index_put", lambda: paddle.index_put(leaf(3, 3) * 2, (TWO, TWO), leaf(2)))
simple("gather_nd", lambda: paddle.gather_nd(leaf(3, 3) * 2, TWO[None]))
simple("where", lambda: paddle.where(PICK > 0, leaf(2, 3) * 2, paddle.zeros([2, 3])))
simple("masked_select", lambda: paddle.masked_select(leaf(3, 3) * 2, paddle.eye(3) > 0))
simple("embedding", lambda: F.embedding(TWO, leaf(4, 3)))
simple("sparse embedding", lambda: F.embedding(TWO, leaf(4, 3), sparse=True))
simple("cross entropy", lambda: F.cross_entropy(leaf(4, 5) * 2, paddle.arange(4)))
simple("batch norm", lambda: nn.BatchNorm1D(3)(leaf(4, 3)))
simple("layer norm", lambda: F.layer_norm(leaf(4, 3), 3, leaf(3), leaf(3)))
simple("interpolate", lambda: F.interpolate(leaf(1, 1, 4, 4) * 2, scale_factor=2))
simple("dropout", lambda: F.dropout(leaf(9) * 2))
simple("attention", lambda: nn.MultiHeadAttention(8, 2)(leaf(2, 3, 8)))
simple("half used PyLayer", lambda: Halves.apply(leaf(2, 2) * 2, leaf(2, 2) * 2))
simple("complex", lambda: paddle.fft.fft(leaf(8) * 2))
simple("sparse", lambda: (leaf(3, 3) * 2).to_sparse_coo(2).to_dense())
simple("empty", lambda: paddle.concat([leaf(0, 3) * 2, leaf(2, 3) * 2]))


@case
def set_value() -> Tensor:
    target = leaf(3, 3) * 2
    target[1] = leaf(3)
    return (target * target).sum()


@case
def in_place() -> Tensor:
    target = leaf(3, 3) * 2
    target.add_(leaf(3, 3))
    return F.relu_(target).sum()


@case
def to_static() -> Tensor:
    network = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    return paddle.jit.to_static(network, full_graph=True)(leaf(2, 3) * 2).sum()


@case
def recomputed() -> Tensor:
    from paddle.distributed.fleet.utils import recompute

    return recompute(nn.Linear(3, 3), leaf(2, 3) * 2).sum()


def _double(build: Callable[[Tensor], Tensor]) -> None:
    def run() -> Tensor:
        data = leaf(4) * 2
        (gradient,) = paddle.grad((build(data) ** 3).sum(), data, create_graph=True)
        return (gradient**2).sum()

    run.__name__ = "double grad"
    CASES.append(run)


_double(lambda data: paddle.concat([data, data * 2]))
_double(lambda data: paddle.stack([data, data * 2]))
_double(lambda data: paddle.split(data, 2)[0])
_double(F.tanh)


def gradients(build: Callable[[], Tensor]) -> list[Any]:
    leaves.clear()
    paddle.seed(0)
    build().backward()
    return [
        None if tensor.grad is None or not tensor.grad.is_dense() else tensor.grad.numpy()
        for tensor in leaves
    ]


def main() -> None:
    for build in CASES:
        sys.stderr.write(f"{build.__name__}\n")
        plain = gradients(build)
        with paddle_lab.trace(grads=True) as trace:
            traced = gradients(build)
        assert not trace.record.origin.notices, trace.record.origin.notices
        assert len(trace.record.tables["grad_stats"]) > 0
        for one, other in zip(plain, traced, strict=True):
            assert (one is None) == (other is None)
            assert one is None or np.array_equal(one, other, equal_nan=True)
    sys.stdout.write("all alive\n")


if __name__ == "__main__":
    sys.exit(main())
