"""Numerical code without layers: linear algebra, sparse tensors, sorting, scatter, mixed dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import paddle
from paddle import Tensor

from tests.models.step import BeforeBackward, Build, Result, Step, look_away, seed

if TYPE_CHECKING:
    from collections.abc import Callable


def bare_step(forward: Callable[..., Tensor], **leaves: Tensor) -> Step:
    """Return a step over leaves that are no parameters of a layer."""
    for leaf in leaves.values():
        leaf.stop_gradient = False

    def step(before_backward: BeforeBackward = look_away) -> Result:
        for leaf in leaves.values():
            leaf.clear_gradient()
        loss = forward(**leaves)
        before_backward([loss])
        paddle.autograd.backward([loss])
        return loss, {name: leaf.grad for name, leaf in leaves.items()}

    return step


def linear_algebra() -> Step:
    """Solve, decompose and take norms of a well-conditioned matrix."""
    seed()
    matrix, vector = paddle.randn([4, 4]), paddle.randn([4, 1])

    def forward(matrix: Tensor, vector: Tensor) -> Tensor:
        positive = matrix @ matrix.T + 4 * paddle.eye(4)
        factor = paddle.linalg.cholesky(positive)
        solved = paddle.linalg.solve(positive, vector)
        return factor.trace() + solved.norm() + paddle.linalg.inv(positive).sum() + positive.std()

    return bare_step(forward, matrix=matrix, vector=vector)


def selection() -> Step:
    """Sort, choose, gather, scatter and mask; integers, booleans and promotion of dtypes."""
    seed()
    values = paddle.randn([6, 5])

    def forward(values: Tensor) -> Tensor:
        best, places = paddle.topk(values, k=2, axis=1)
        ordered = paddle.sort(values, axis=0)[::2]
        picked = values[paddle.to_tensor([0, 2, 4])][:, [1, 3]]
        positive = values[values > 0]
        one_hot = paddle.nn.functional.one_hot(places[:, 0], 5)
        scattered = paddle.scatter_nd_add(values, paddle.to_tensor([[0], [2]]), paddle.ones([2, 5]))
        chosen = paddle.where(values.abs() < 1, values, values.sign())
        share = (values > 0).astype("int64").sum() / values.numel()
        wide = values.astype("float64") + values[0]
        return (
            best.sum()
            + ordered.mean()
            + picked.prod()
            + positive.sum()
            + (one_hot * values).sum()
            + scattered.square().mean()
            + chosen.sum()
            + share
            + wide.sum().astype("float32")
            + sum(row.max() for row in values) / 2
            + (2 - values).clip(0, 1).sum()
            + (1 / (values * values + 1) % 0.3 + 2**values).mean()
            - values // 2 @ values[0]
        ).sum()

    return bare_step(forward, values=values)


MODELS: dict[str, Build] = {"linear_algebra": linear_algebra, "selection": selection}
