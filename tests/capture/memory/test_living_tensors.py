"""Living tensors of real Paddle: storages, names, gradients and backward graphs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paddle
import pytest
from paddle.base import core

from paddle_lab.capture.memory.living_tensors import LivingTensors
from paddle_lab.holders.roots import Root, variable_roots


@pytest.fixture(autouse=True)
def scope_of_its_own() -> Iterator[None]:
    """Hide the variables that static programs of other tests left in the global scope."""
    with paddle.static.scope_guard(paddle.static.Scope()):
        yield


def living(namespace: dict[str, Any]) -> LivingTensors:
    found = LivingTensors()
    found.walk(variable_roots(namespace, {}))
    assert found.is_complete
    return found


def storages_and_paddles_count() -> tuple[int, int]:
    """Return the bytes of a trained net's storages, found and by Paddle's own count."""

    def allocated() -> int:
        count: int = core.host_memory_stat_current_value("Allocated", 0)
        return count

    before = allocated()
    net = paddle.nn.Linear(30, 20)
    optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
    net(paddle.ones([5, 30])).mean().backward()
    optimizer.step()
    found = living({"net": net, "optimizer": optimizer}).tensors()
    storages = {tensor.address: tensor.storage_bytes for tensor in found}
    return sum(storages.values()), allocated() - before


def test_the_storages_add_up_to_paddles_own_count() -> None:
    # Use a process of its own, because objects of other tests could be freed during the count.
    count = (
        "from tests.capture.memory.test_living_tensors import storages_and_paddles_count as count"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{count}; print(*count())"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    found, counted = done.stdout.split()
    assert int(found) == int(counted) > 9000


def test_living_tensors_have_names_kinds_and_places() -> None:
    net = paddle.nn.Linear(30, 20)
    optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
    net(paddle.ones([5, 30])).mean().backward()
    optimizer.step()
    found = living({"net": net, "optimizer": optimizer}).tensors()
    names = {tensor.name for tensor in found}
    assert {"net.weight", "net.weight.grad", "net.bias.grad"} <= names
    assert "optimizer._accumulators['moment1']['" + net.weight.name + "']" in names
    assert {tensor.place for tensor in found} == {"cpu"}


def test_views_share_a_storage() -> None:
    big = paddle.zeros([1000, 10])
    found = living({"big": big, "row": big[3], "shape": big.reshape([10, 1000])}).tensors()
    assert [tensor.name for tensor in found] == ["big", "row", "shape"]
    assert {tensor.address for tensor in found} == {big.data_ptr()}
    assert [tensor.bytes for tensor in found] == [40_000, 40, 40_000]
    assert {tensor.storage_bytes for tensor in found} == {40_000}


def test_tensors_that_cannot_be_asked_are_left_out() -> None:
    sparse = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0])
    found = living({"sparse": sparse, "empty": paddle.empty([0]), "undefined": paddle.Tensor()})
    assert found.tensors() == []
    assert found.backward_graphs() == []


@pytest.mark.parametrize("order", [("loss", "hidden"), ("hidden", "loss")])
def test_a_part_of_a_graph_names_all_tensors_that_lead_to_it(order: tuple[str, str]) -> None:
    x = paddle.ones([2, 2])
    x.stop_gradient = False
    hidden = x * 2
    loss = hidden.exp().mean()
    made = {"hidden": hidden, "loss": loss}
    graphs = living({name: made[name] for name in order}).backward_graphs()
    named = {node: set(graph.names) for graph in graphs for node in graph.nodes}
    assert named[hidden.grad_fn.node_ptr()] == {"loss", "hidden"}
    assert named[loss.grad_fn.node_ptr()] == {"loss"}
    assert len(named) == 4


def test_a_chain_of_graphs_names_the_last_tensor_everywhere() -> None:
    x = paddle.ones([2, 2])
    x.stop_gradient = False
    a = x * 2
    b = a.exp()
    c = b.mean()
    graphs = living({"a": a, "b": b, "c": c, "again": c.detach()}).backward_graphs()
    assert sorted(graph.names for graph in graphs) == [["a", "b", "c"], ["b", "c"], ["c"]]


def test_each_of_many_losses_leads_to_its_own_graph() -> None:
    weight = paddle.ones([2, 2])
    weight.stop_gradient = False
    losses = [(weight * step).mean() for step in range(100)]
    graphs = living({"losses": losses}).backward_graphs()
    own = [graph.names for graph in graphs if len(graph.names) == 1]
    assert sorted(own) == sorted([f"losses[{step}]"] for step in range(100))
    (shared,) = [graph for graph in graphs if len(graph.names) > 1]  # where the weight gathers
    assert len(shared.nodes) == 1


def test_states_that_lead_to_one_another_are_followed_to_the_end_of_each() -> None:
    state = paddle.ones([2])
    state.stop_gradient = False
    states = []
    for _ in range(100):
        state = state * 2
        states.append(state)
    graphs = living({"states": states}).backward_graphs()
    assert sum(len(graph.nodes) for graph in graphs) == 101
    assert max(len(graph.names) for graph in graphs) == 8


def test_reading_a_graph_keeps_nothing_of_it_alive() -> None:
    x = paddle.ones([1000])
    x.stop_gradient = False
    before = core.host_memory_stat_current_value("Allocated", 0)
    y = x.exp().exp()
    found = living({"y": y})
    assert len(found.backward_graphs()) == 1
    assert found.tensors()
    del y, found
    assert core.host_memory_stat_current_value("Allocated", 0) == before


def test_more_roots_can_be_searched_later() -> None:
    found = living({"x": paddle.ones([2])})
    found.walk([Root("output", "Out[5]", [paddle.ones([3])])])
    assert [(t.kind, t.name) for t in found.tensors()] == [
        ("variable", "x"),
        ("output", "Out[5][0]"),
    ]
