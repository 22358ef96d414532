"""Hooks around what ends a tensor's gradient: ``stop_gradient = True``, ``detach``, copies.

Each ``gradient_stopped`` event names the tensor's row: with ``stop_gradient = True`` that of the
tensor itself, otherwise that of the new tensor, which tells what it was detached from.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.noting import Call, is_floating, noting
from paddle_lab.capture.hooks.copy_hooks import noting_copies
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.recorder.faults import attempt
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.recorder.sinks import SINKS
from paddle_lab.capture.rows.cells import NO_KEY


def gradient_stop_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches that note ``gradient_stopped`` events; ``detach`` has its own hook."""
    tensor = paddle.Tensor
    return [
        AttributePatch(tensor, "stop_gradient", _around_stop_gradient),
        AttributePatch(tensor, "detach_", _around_detach_in_place),
        AttributePatch(tensor, "data", _around_data),
        *_copy_patches(),
    ]


def _copy_patches() -> list[AttributePatch]:
    if not DOOR.has("copies"):
        return []
    return [DOOR.patch("copy_to", lambda native: noting(noting_copies(native), _copied))]


def note_detached(
    recorder: Recorder, frame: FrameType, source: Any, result: Any, *, detail: str = "detach"
) -> None:
    """Note that ``result``, which has its row, holds the values of ``source`` alone."""
    if not source.stop_gradient and is_floating(source):
        key = recorder.tensors.known_key(result)
        recorder.events.note("gradient_stopped", frame, tensor=key, detail=detail)


def note_view(recorder: Recorder, frame: FrameType, source: Any, result: Any) -> None:
    """Note that ``result`` was made as another tensor of the memory that ``source`` has."""
    if not DOOR.is_initialized(source):
        return
    recorder.tensors.detach(source, result)
    if not isinstance(source, recorder.parameter_type):
        note_detached(recorder, frame, source, result, detail="data")


def _around_stop_gradient(descriptor: Any) -> property:
    read, write = descriptor.__get__, descriptor.__set__

    def set_stop_gradient(tensor: Any, value: Any) -> None:
        needed_one = value and SINKS.active and not read(tensor)
        try:
            write(tensor, value)
        except BaseException as error:
            drop_frame(error)
            raise
        if needed_one:
            for recorder in SINKS.active:
                attempt(recorder, _stopped, recorder, _getframe(1), tensor, "stop_gradient")

    return property(read, set_stop_gradient, doc=descriptor.__doc__)


def _around_detach_in_place(method: Any) -> Callable[..., Any]:
    def detach_(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        # Its row is looked for while it still has the grad node by which it is known.
        for recorder in SINKS.active:
            if not tensor.stop_gradient:
                attempt(recorder, _stopped, recorder, _getframe(1), tensor, "detach_")
        try:
            return method(tensor, *args, **kwargs)
        except BaseException as error:
            drop_frame(error)
            raise

    detach_.__doc__ = getattr(method, "__doc__", None)
    detach_.__wrapped__ = method  # type: ignore[attr-defined]
    return detach_


def _around_data(descriptor: Any) -> property:
    read = descriptor.__get__

    def data(tensor: Any) -> Any:
        result = read(tensor)
        for recorder in SINKS.active:
            attempt(recorder, _alias, recorder, _getframe(1), tensor, result, "data")
        return result

    return property(data, descriptor.__set__, doc=descriptor.__doc__)


def _copied(recorder: Recorder, call: Call) -> None:
    _alias(recorder, call.frame, call.args[0], call.result, "copy")


def _alias(recorder: Recorder, frame: FrameType, source: Any, result: Any, detail: str) -> None:
    """Note a new tensor with the values of another, which C++ made without a way back."""
    if (
        result is source
        or isinstance(source, recorder.parameter_type)
        or source.stop_gradient
        or not DOOR.is_initialized(source)
        or not is_floating(source)
    ):
        return
    recorder.tensors.detach(source, result)
    key = recorder.tensors.known_key(result)
    recorder.events.note("gradient_stopped", frame, tensor=key, detail=detail)


def _stopped(recorder: Recorder, frame: FrameType, tensor: Any, detail: str) -> None:
    # A parameter that is being made has no values yet.
    if not DOOR.is_initialized(tensor):
        return
    key = recorder.tensors.key_of(tensor)
    if key != NO_KEY:
        recorder.events.note("gradient_stopped", frame, tensor=key, detail=detail)
