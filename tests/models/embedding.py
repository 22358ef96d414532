"""Embeddings with sparse gradients, and sparse tensors."""

from __future__ import annotations

import paddle
from paddle import Tensor, nn

from tests.models.step import (
    BeforeBackward,
    Build,
    Result,
    Step,
    gradients_of,
    look_away,
    seed,
    training_step,
)


def bag_of_words() -> Step:
    """A word embedding with sparse gradients, shared between two inputs, lazily updated."""
    seed()
    network = nn.Sequential(nn.Embedding(50, 8, sparse=True), nn.Linear(8, 4))
    left, right = paddle.randint(0, 50, [3, 5]), paddle.randint(0, 50, [3, 5])
    optimizer = paddle.optimizer.Adam(parameters=network.parameters(), lazy_mode=True)

    def step(before_backward: BeforeBackward = look_away) -> Result:
        network.clear_gradients()
        words, head = network
        difference = head(words(left).mean(axis=1)) - head(words(right).mean(axis=1))
        loss = difference.square().sum()
        before_backward([loss])
        loss.backward()
        gradients = gradients_of(network)
        optimizer.step()
        return loss, gradients

    return step


def sparse_values() -> Step:
    """Sparse tensors: built from dense values, activated, added, read back as dense."""
    seed()
    network = nn.Linear(6, 5)
    features = paddle.randn([5, 6])
    indices = paddle.to_tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])

    def forward() -> Tensor:
        values = network(features).sum(axis=1)
        adjacency = paddle.sparse.sparse_coo_tensor(indices, values, [5, 5], stop_gradient=False)
        activated = paddle.sparse.nn.functional.relu(adjacency)
        doubled = paddle.sparse.add(activated, paddle.sparse.square(adjacency))
        return doubled.to_dense().mean() + adjacency.values().sum() / 10

    return training_step(network, forward)


MODELS: dict[str, Build] = {"sparse_embedding": bag_of_words, "sparse_values": sparse_values}
