"""Reading ``grad_fn``, with a Paddle that leaks a reference and with one that does not."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from operator import attrgetter
from types import SimpleNamespace

import paddle
import pytest

import paddle_lab
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.grad_fn import GRAD_FN, GradFnReader
from paddle_lab.capture.native import NATIVE

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
