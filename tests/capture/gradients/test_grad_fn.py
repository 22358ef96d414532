"""Reading ``grad_fn``, with a Paddle that leaks a reference and with one that does not."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from operator import attrgetter
from types import SimpleNamespace

import paddle
import pytest

import paddle_lab
from paddle_lab.capture import grad_fn
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.grad_fn import GRAD_FN, GradFnReader
from paddle_lab.capture.native import NATIVE
from paddle_lab.capture.recorder.recorder import SINKS

SOUND = 2  # the local variable, and the argument of getrefcount


def made_tensor():
    x = paddle.ones([2])
    x.stop_gradient = False
    return x * 2


def test_a_read_leaves_no_reference():
    reader = GradFnReader()
    reader.find_out(paddle)
    made = made_tensor()
    for _ in range(3):
        node = reader.node(made)
        assert sys.getrefcount(node) == SOUND
        assert reader.address(made) == node.node_ptr()
        assert sys.getrefcount(node) == SOUND


def test_the_paddle_that_is_here_is_known_by_a_tensor_of_our_own():
    reader = GradFnReader()
    assert not reader.is_leaking
    reader.find_out(paddle)
    node = made_tensor().grad_fn
    assert reader.is_leaking == (sys.getrefcount(node) > SOUND)


@pytest.mark.skipif(NATIVE is None, reason="the native hot path was not built")
def test_a_trace_leaves_no_reference():
    with paddle_lab.trace() as trace:
        made = made_tensor()
        node = made.grad_fn
    assert len(trace.ops) == 2
    # Our own read of ``grad_fn`` just now leaves one where Paddle does.
    assert sys.getrefcount(node) == SOUND + GRAD_FN.is_leaking


class Doubled(paddle.autograd.PyLayer):
    @staticmethod
    def forward(_context, x):
        return x * 2

    @staticmethod
    def backward(_context, gradient):
        return gradient * 2


def tensors_with_and_without_nodes():
    """Tensors of each kind that an op can return."""
    weight = paddle.create_parameter([3, 3], "float32")
    made = paddle.matmul(paddle.ones([2, 3]), weight)
    yield from (made, made.reshape([3, 2]), made.astype("float64"), Doubled.apply(made))
    yield from paddle.split(made, 3, axis=1)
    yield paddle.nn.functional.relu_(made.scale(3.0))
    written = paddle.zeros([2, 3])
    written[0] = made[0]
    yield written
    yield from (made.detach() + 1, weight, paddle.to_tensor([]))
    with paddle.no_grad():
        yield made * 2


@pytest.mark.skipif(NATIVE is None, reason="the native hot path was not built")
@pytest.mark.parametrize("is_read_from_memory", [True, False])
def test_rows_have_the_addresses_that_paddle_tells(monkeypatch, is_read_from_memory):
    GRAD_FN.find_out(paddle)
    if is_read_from_memory and GRAD_FN.places == (0, 0):
        pytest.skip("this Paddle keeps the address somewhere else, or this is not Linux")
    if not is_read_from_memory:
        monkeypatch.setattr(GRAD_FN, "places", (0, 0))
    addresses = []
    with paddle_lab.trace():
        (recorder,) = SINKS.active
        for tensor in tensors_with_and_without_nodes():
            noted = recorder.tensors.grad_address(recorder.tensors.key_of(tensor))
            addresses.append((noted, None if tensor.is_leaf else GRAD_FN.address(tensor)))
    assert len(addresses) == 13
    assert sum(noted is not None for noted, _ in addresses) == 9
    assert [noted for noted, _ in addresses] == [told for _, told in addresses]


def test_the_address_is_looked_for_without_a_crash(monkeypatch):
    reader = GradFnReader()
    made = made_tensor()
    address = reader.address(made)
    # a reference count, an offset behind all memory, the end of the tensor, another member
    for places in ((0, 24), (32, 1 << 62), (96, 24), (32, 0)):
        monkeypatch.setattr(grad_fn, "_PLACES", places)
        assert not grad_fn._has_at_place(made, address)
        reader.find_out(paddle)
        assert reader.places == (0, 0)


class StandInNode:
    def node_ptr(self):
        return 7


class MendedTensor:
    """A tensor of a Paddle whose ``grad_fn`` leaves no reference."""

    def __init__(self):
        self._node = None

    def scale(self, _factor):
        return self

    @property
    def grad_fn(self):
        return StandInNode() if self._node is None else self._node


def mended_paddle(*, is_dynamic=True):
    return SimpleNamespace(
        in_dynamic_mode=lambda: is_dynamic,
        set_grad_enabled=lambda _on: nullcontext(),
        CPUPlace=lambda: None,
        to_tensor=lambda *_, **__: MendedTensor(),
    )


def test_nothing_is_dropped_in_a_mended_paddle(monkeypatch):
    monkeypatch.setattr(DOOR, "node_address", StandInNode.node_ptr)
    monkeypatch.setattr(DOOR, "grad_fn", attrgetter("grad_fn"))
    reader = GradFnReader()
    reader.find_out(mended_paddle())
    assert not reader.is_leaking
    assert reader.places == (0, 0)
    tensor = MendedTensor()
    tensor._node = node = StandInNode()
    before = sys.getrefcount(node)
    assert reader.node(tensor) is node
    assert reader.address(tensor) == 7
    assert sys.getrefcount(node) == before


def test_in_static_mode_a_later_call_finds_out():
    reader = GradFnReader()
    reader.find_out(mended_paddle(is_dynamic=False))
    reader.find_out(paddle)
    assert reader.is_leaking == GRAD_FN.is_leaking
