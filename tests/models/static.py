"""Models under ``paddle.jit.to_static``: symbolic (SOT) and whole-graph (AST)."""

from __future__ import annotations

import paddle
from paddle import Tensor, nn
from paddle.vision import models

from tests.models.step import Build, Step, seed, training_step


class Branching(nn.Layer):
    """Control flow on a tensor's value: a graph break for SOT, a converted ``if`` for AST."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.second = nn.Linear(6, 6)

    def forward(self, data: Tensor) -> Tensor:
        """Return one of two transformations of ``data``."""
        hidden = nn.functional.relu(self.first(data))
        return self.second(hidden) if hidden.sum() > 0 else hidden - 1


def branching(*, full_graph: bool) -> Build:
    """Return a build of a step through data-dependent control flow."""

    def build() -> Step:
        seed()
        network = paddle.jit.to_static(Branching(), full_graph=full_graph)
        data = paddle.randn([4, 6])
        return training_step(network, lambda: network(data).square().mean())

    return build


def convolutional(*, full_graph: bool) -> Build:
    """Return a build of LeNet's step with its optimizer."""

    def build() -> Step:
        seed()
        network = paddle.jit.to_static(models.LeNet(), full_graph=full_graph)
        images, labels = paddle.randn([2, 1, 28, 28]), paddle.randint(0, 10, [2])
        optimizer = paddle.optimizer.SGD(parameters=network.parameters())

        def forward() -> Tensor:
            return nn.functional.cross_entropy(network(images), labels)

        return training_step(network, forward, optimizer=optimizer)

    return build


MODELS: dict[str, Build] = {
    "branching_sot": branching(full_graph=False),
    "branching_full_graph": branching(full_graph=True),
    "lenet_sot": convolutional(full_graph=False),
    "lenet_full_graph": convolutional(full_graph=True),
}
