"""The kind of each block, and the forward op of blocks allocated in backward."""

from __future__ import annotations

from itertools import pairwise

import paddle
import pytest
from paddle import nn
from paddle.distributed.fleet.utils import recompute

import paddle_lab
from paddle_lab.capture.memory.capture import OPEN_CAPTURES
from tests.capture.memory.running_total import rows

WIDTHS = (3, 5, 7, 11, 13)
"""Distinct primes: the sizes of all weights differ."""
BATCH = 17
FLOAT = 4


class Chain(nn.Layer):
    def __init__(self):
        super().__init__()
        pairs = pairwise(WIDTHS)
        self.linears = nn.LayerList([nn.Linear(*pair, bias_attr=False) for pair in pairs])
        self.register_buffer("scale", paddle.full([WIDTHS[-1]], 2.0))

    def forward(self, data):
        for linear in self.linears:
            data = nn.functional.tanh(linear(data))
        return data * self.scale


def weight_bytes():
    return [first * second * FLOAT for first, second in pairwise(WIDTHS)]


def sizes(found):
    return sorted(row["bytes"] for row in found)


@pytest.fixture
def chain():
    return Chain()


@pytest.fixture
def data():
    return paddle.rand([BATCH, WIDTHS[0]])


def test_blocks_from_before_are_known_by_their_tensors(chain, data):
    with paddle_lab.memory() as trace:
        chain(data)
    before = rows(trace.record, start_ns=-1)
    kinds = {row["bytes"]: row["kind"] for row in before}
    assert kinds == {
        **dict.fromkeys(weight_bytes(), "parameter"),
        BATCH * WIDTHS[0] * FLOAT: "input",
        WIDTHS[-1] * FLOAT: "buffer",
    }
    paths = {trace.record.text(trace.record.tensors["path"][row["tensor"]]) for row in before}
    assert {f"linears.{position}.weight" for position in range(len(weight_bytes()))} <= paths


def test_storages_come_in_the_order_of_their_tensors():
    made = [paddle.rand([1]) for _ in range(60)]
    for leaf in made:
        leaf.stop_gradient = False
    paddle.add_n(made).backward()
    with paddle_lab.memory() as trace:
        capture = OPEN_CAPTURES[-1]
        for leaf in sorted(made, key=id, reverse=True)[::2] + made:
            leaf.detach()
    for storages in (capture.living, capture.living_gradients):
        tensors = [storage.tensor for storage in storages]
        assert len(tensors) >= len(made)
        assert tensors == sorted(tensors)
    assert len(rows(trace.record, start_ns=-1)) >= 2 * len(made)


def test_each_gradient_names_its_own_grad_node_and_op(chain, data):
    with paddle_lab.memory() as trace:
        chain(data).sum().backward()
    record = trace.record
    gradients = rows(record, node_name="MatmulGradNode", kind="gradient")
    of_weights = [row for row in gradients if row["bytes"] in weight_bytes()]
    assert sizes(of_weights) == sorted(weight_bytes())
    for row in of_weights:
        op = trace.ops[row["op"]]
        # The forward op that read this weight. No other weight has its shape.
        weight = next(tensor for tensor in op.inputs if tensor.kind == "parameter")
        assert weight.bytes == row["bytes"]
        assert record.grad_nodes["op"][row["grad_node"]] == row["op"]
        assert record.scopes["backward_call"][row["scope"]] == 0


def test_what_backward_frees_was_saved_for_it(chain, data):
    with paddle_lab.memory() as trace:
        chain(data).sum().backward()
    saved = rows(trace.record, kind="saved_activation", op_name="tanh", grad_node=-1)
    assert sizes(saved) == [BATCH * width * FLOAT for width in WIDTHS[1:]]


def test_without_gradients_nothing_is_saved(chain, data):
    with paddle_lab.memory() as trace, paddle.no_grad():
        result = chain(data)
    assert rows(trace.record, kind="saved_activation") == []
    assert sizes(rows(trace.record, end_ns=-1, op_name="multiply")) == [result.size * FLOAT]


def test_a_graph_that_waits_for_its_backward_holds_saved_activations(chain, data):
    with paddle_lab.memory() as trace:
        loss = chain(data).sum()
    saved = rows(trace.record, kind="saved_activation", op_name="tanh", end_ns=-1)
    assert sizes(saved) == [BATCH * width * FLOAT for width in WIDTHS[1:]]
    (kept,) = rows(trace.record, op_name="sum", end_ns=-1)
    assert kept["kind"] == "activation"
    assert loss.size == 1


def test_temporaries_are_freed_by_the_op_that_allocated_them():
    convolution = nn.Conv2D(3, 5, 3)
    images = paddle.rand([2, 3, 8, 8])
    with paddle_lab.memory() as trace, paddle.no_grad():
        convolution(images)
    record = trace.record
    (unfolded,) = rows(record, kind="temporary", op_name="conv2d")
    ops = record.ops
    end_ns = int(ops["start_ns"][unfolded["op"]] + ops["duration_ns"][unfolded["op"]])
    assert unfolded["end_ns"] <= end_ns
    assert unfolded["tensor"] == -1


@pytest.mark.parametrize("make", [paddle.optimizer.Adam, paddle.optimizer.Momentum])
def test_optimizer_states_are_told_from_what_they_come_from(make, chain, data):
    optimizer = make(parameters=chain.parameters())
    for _ in range(2):  # made in the first step, from before in the second
        with paddle_lab.memory() as trace:
            chain(data).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
        states = sizes(rows(trace.record, kind="optimizer_state"))
        a_weight = weight_bytes()[1]
        assert states.count(a_weight) == (2 if make is paddle.optimizer.Adam else 1)
        assert sizes(rows(trace.record, kind="parameter")) == sorted(weight_bytes())


def test_gradients_from_before_are_gradients_to_every_optimizer(chain, data):
    for make in (paddle.optimizer.SGD, paddle.optimizer.Adam):
        optimizer = make(parameters=chain.parameters())
        chain(data).sum().backward()
        with paddle_lab.memory() as trace:
            optimizer.step()
        gradients = rows(trace.record, kind="gradient")
        assert sizes(gradients) == sorted(weight_bytes())
        assert {row["start_ns"] for row in gradients} == {-1}
        optimizer.clear_grad(set_to_zero=False)


def test_ops_that_a_pylayer_runs_backward_are_the_allocators():
    class Doubling(paddle.autograd.PyLayer):
        @staticmethod
        def forward(_context, data):
            return data * 2

        @staticmethod
        def backward(_context, gradient):
            return paddle.exp(gradient)

    data = paddle.rand([5, 7])
    data.stop_gradient = False
    with paddle_lab.memory() as trace:
        Doubling.apply(data).sum().backward()
    (made,) = rows(trace.record, op_name="exp")
    assert "Doubling" in made["node_name"]
    assert trace.ops[made["op"]].phase == "backward"


def test_second_derivatives_name_their_grad_nodes():
    data = paddle.rand([5, 7])
    data.stop_gradient = False
    with paddle_lab.memory() as trace:
        (first,) = paddle.grad(paddle.tanh(data).sum(), data, create_graph=True)
        first.sum().backward()
    names = {row["node_name"] for row in rows(trace.record, bytes=5 * 7 * FLOAT)}
    assert {"TanhGradNode", "TanhDoubleGradNode"} & names
    in_backward = rows(trace.record, phase=1)
    assert in_backward
    assert all(row["node_name"] for row in in_backward)


def test_gradients_that_the_next_backward_replaces_are_gradients(chain, data):
    with paddle_lab.memory() as trace:
        for _ in range(3):
            chain(data).sum().backward()
            for weight in chain.parameters():
                weight.clear_gradient()
    for size in weight_bytes():
        made = rows(trace.record, bytes=size, node_name="MatmulGradNode")
        assert [row["kind"] for row in made] == ["gradient"] * 3


def test_what_an_optimizer_computes_is_its_state_or_temporary(chain, data):
    optimizer = paddle.optimizer.LBFGS(parameters=chain.parameters(), max_iter=3)

    def closure():
        optimizer.clear_grad()
        loss = chain(data).square().mean()
        loss.backward()
        return loss

    with paddle_lab.memory() as trace:
        optimizer.step(closure)
    flat = rows(trace.record, bytes=sum(weight_bytes()), phase=2)
    kept = [row for row in flat if row["end_ns"] == -1]
    assert kept
    assert {row["kind"] for row in kept} == {"optimizer_state"}
    assert {row["kind"] for row in flat if row["end_ns"] != -1} == {"temporary"}
    # It reads the gradients with ops that are no updates.
    gradients = rows(trace.record, bytes=weight_bytes()[1], node_name="MatmulGradNode")
    assert {row["kind"] for row in gradients} == {"gradient"}


def test_what_recompute_computes_again_is_no_gradient(data):
    first, second = nn.Linear(3, 29, bias_attr=False), nn.Linear(29, 3, bias_attr=False)
    data.stop_gradient = False
    hidden = BATCH * 29 * FLOAT
    with paddle_lab.memory() as trace:
        recompute(lambda x: second(nn.functional.gelu(first(x))), data).sum().backward()
    again = rows(trace.record, bytes=hidden, node_name="GradNodePyLayer_RecomputeFunction")
    by_op = {name: [row["kind"] for row in again if row["op_name"] == name] for name in OPS_AGAIN}
    # What the second linear hands back to gelu, and gelu to the first, are gradients of their own
    # grad nodes.
    assert by_op == {"linear": ["saved_activation"], "gelu": ["saved_activation"]}
    (output,) = rows(
        trace.record,
        bytes=BATCH * 3 * FLOAT,
        node_name="GradNodePyLayer_RecomputeFunction",
        op_name="linear",
    )
    assert output["kind"] in {"activation", "temporary"}
    assert output["tensor"] >= 0


OPS_AGAIN = ("linear", "gelu")


def test_a_copy_that_the_program_held_is_no_work_space_of_an_op(data):
    with paddle_lab.memory() as trace:
        kept = [data.numpy() for _ in range(2)]
        total = float(sum(array.sum() for array in kept)) + float(data.sum())
        del kept
    copies = [row for row in rows(trace.record) if row["bytes"] == data.size * FLOAT]
    assert [row["kind"] for row in copies if row["start_ns"] >= 0] == ["activation"] * 2
    assert total


def test_copies_for_numpy_have_a_kind(data):
    with paddle_lab.memory() as trace:
        kept = data.numpy()
        assert data.numpy().size == kept.size
    kinds = {row["end_ns"] == -1: row["kind"] for row in rows(trace.record, op_name="")}
    assert kinds[True] in {"activation", "input"}
    assert "unknown" not in kinds.values()
