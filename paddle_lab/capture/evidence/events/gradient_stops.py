"""Hooks that record where gradients are stopped, for a single tensor or for all ops.

Each ``gradient_stopped`` event refers to the row of a tensor. For ``stop_gradient = True`` this is
the tensor itself. Otherwise it is the new tensor, and its row refers to the source tensor.

``no_grad``, ``enable_grad`` and ``set_grad_enabled``, as blocks and as decorators, all call the
same private function of Paddle. The stack of such an event contains the frame with the ``with``
statement, or the frame of the decorator's wrapper.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

from paddle_lab.capture.backward_graph.graphs import flat
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.noting import Call, is_floating, noted, noting
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.recorder.thread_state import OPTIMIZER
from paddle_lab.capture.rows.cells import NO_KEY


def gradient_stop_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches that record ``gradient_stopped`` events; ``detach`` has its own hook."""
    tensor = paddle.Tensor
    return [
        AttributePatch(tensor, "stop_gradient", _around_stop_gradient),
        noted((tensor, "detach_"), before=_before_detach),
        AttributePatch(tensor, "data", _around_data),
        *((noted("copy_to", _after_copy, copies=True),) if DOOR.has("copies") else ()),
    ]


def gradient_mode_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patch that records ``gradient_off`` and ``gradient_on`` events."""
    is_enabled = paddle.is_grad_enabled

    def note(recorder: Recorder, call: Call) -> None:
        mode = next(iter((*call.args, *call.kwargs.values())))
        # Every optimizer switches gradients off for its own ops, which is not an event.
        if bool(mode) != is_enabled() and recorder.thread().phase != OPTIMIZER:
            recorder.events.note("gradient_on" if mode else "gradient_off", call.frame)
            recorder.tensor_lives.look()

    return [noted("set_grad_enabled", before=note)]


def note_detached(
    recorder: Recorder, frame: FrameType, source: Any, result: Any, *, detail: str = "detach"
) -> None:
    """Record that ``result`` has the values of ``source``, but passes no gradient to ``source``."""
    if not source.stop_gradient and is_floating(source):
        key = recorder.tensors.known_key(result)
        recorder.events.note("gradient_stopped", frame, tensor=key, detail=detail)


def note_view(recorder: Recorder, frame: FrameType, source: Any, result: Any) -> None:
    """Record that ``result`` is a new tensor that shares the memory of ``source``."""
    if not DOOR.is_initialized(source):
        return
    recorder.tensors.detach(source, result)
    if not isinstance(source, recorder.parameter_type):
        note_detached(recorder, frame, source, result, detail="data")


def note_rootless(recorder: Recorder, tensors: Any, frame: FrameType) -> None:
    """Record each tensor on which backward is called although it has no graph."""
    for tensor in flat(tensors):
        # A leaf has no graph either, so its gradient goes no further.
        if isinstance(tensor, recorder.tensor_type) and (tensor.stop_gradient or tensor.is_leaf):
            key = recorder.tensors.key_of(tensor)
            recorder.events.note("rootless_backward", frame, tensor=key)


def _around_stop_gradient(descriptor: Any) -> property:
    read = descriptor.__get__

    def note(recorder: Recorder, call: Call) -> None:
        tensor, value = call.args
        if value and not read(tensor):
            _note_stopped(recorder, call.frame, tensor, "stop_gradient")

    return property(read, noting(descriptor.__set__, before=note), doc=descriptor.__doc__)


def _around_data(descriptor: Any) -> property:
    def note(recorder: Recorder, call: Call) -> None:
        _note_alias(recorder, call, "data")

    return property(noting(descriptor.__get__, note), descriptor.__set__, doc=descriptor.__doc__)


def _before_detach(recorder: Recorder, call: Call) -> None:
    # Find the tensor's row now, by its grad node, because ``detach_`` removes the grad node.
    if not call.args[0].stop_gradient:
        _note_stopped(recorder, call.frame, call.args[0], "detach_")


def _after_copy(recorder: Recorder, call: Call) -> None:
    _note_alias(recorder, call, "copy")


def _note_alias(recorder: Recorder, call: Call, detail: str) -> None:
    """Record a tensor that C++ code made from another tensor's values, but without its graph."""
    source, result = call.args[0], call.result
    if (
        result is source
        or isinstance(source, recorder.parameter_type)
        or source.stop_gradient
        or not DOOR.is_initialized(source)
        or not is_floating(source)
    ):
        return
    recorder.tensors.detach(source, result)
    note_detached(recorder, call.frame, source, result, detail=detail)


def _note_stopped(recorder: Recorder, frame: FrameType, tensor: Any, detail: str) -> None:
    # A parameter that is just being created has no values yet.
    if not DOOR.is_initialized(tensor):
        return
    key = recorder.tensors.key_of(tensor)
    if key != NO_KEY:
        recorder.events.note("gradient_stopped", frame, tensor=key, detail=detail)
