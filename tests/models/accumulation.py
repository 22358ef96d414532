"""Several backward passes before one optimizer step, with clipping and gradient hooks."""

from __future__ import annotations

import paddle
from paddle import Tensor, nn

from tests.models.step import BeforeBackward, Build, Result, Step, gradients_of, look_away, seed


def accumulated() -> Step:
    """Three micro-batches, gradients clipped by their global norm."""
    seed()
    network = nn.Sequential(nn.Linear(6, 12), nn.Dropout(0.3), nn.ReLU(), nn.Linear(12, 3))
    batches = [paddle.randn([4, 6]) for _ in range(3)]
    optimizer = paddle.optimizer.AdamW(
        parameters=network.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0)
    )

    def step(before_backward: BeforeBackward = look_away) -> Result:
        network.clear_gradients()
        total = paddle.zeros([])
        for batch in batches:
            loss = network(batch).square().mean() / len(batches)
            before_backward([loss])
            loss.backward()
            total += loss.detach()
        optimizer.step()
        return total, gradients_of(network)

    return step


def hooked() -> Step:
    """A hook that scales an activation's gradient, a graph kept and walked twice."""
    seed()
    network = nn.Sequential(nn.Linear(5, 7), nn.Sigmoid(), nn.Linear(7, 2))
    data = paddle.randn([3, 5])

    def scaled(gradient: Tensor) -> Tensor:
        return gradient * 0.5

    def step(before_backward: BeforeBackward = look_away) -> Result:
        network.clear_gradients()
        hidden = network[1](network[0](data))
        hidden.register_hook(scaled)
        outputs = network[2](hidden)
        first, second = outputs[:, 0].sum(), outputs[:, 1].square().sum()
        before_backward([first])
        first.backward(retain_graph=True)
        before_backward([second])
        second.backward(paddle.full([], 2.0))
        return first + second, gradients_of(network)

    return step


MODELS: dict[str, Build] = {"gradient_accumulation": accumulated, "gradient_hook": hooked}
