"""Hooks around what writes into a tensor without an op.

Paddle does not count these writes as versions, so the tensor keeps its row, and the event tells
from which op on its values are others.
"""

from __future__ import annotations

from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.noting import Call, is_floating, noting
from paddle_lab.capture.hooks.copy_hooks import noting_copies
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.recorder.recorder import Recorder


def overwrite_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches that note ``overwritten`` events."""
    tensor = paddle.Tensor
    return [
        AttributePatch(tensor, "set_value", lambda method: noting(method, _set_value)),
        AttributePatch(tensor, "copy_", lambda native: noting(noting_copies(native), _copy)),
    ]


def _set_value(recorder: Recorder, call: Call) -> None:
    _note(recorder, call, "set_value")


def _copy(recorder: Recorder, call: Call) -> None:
    _note(recorder, call, "copy_")


def _note(recorder: Recorder, call: Call, detail: str) -> None:
    tensor = call.args[0]
    _note_source(recorder, call, detail)
    if isinstance(tensor, recorder.tensor_type) and DOOR.is_initialized(tensor):
        key = recorder.tensors.key_of(tensor)
        recorder.events.note("overwritten", call.frame, tensor=key, detail=detail)
        for listener in recorder.tensors.change_listeners:
            listener(tensor, key)


def _note_source(recorder: Recorder, call: Call, detail: str) -> None:
    source = call.args[1] if len(call.args) > 1 else None
    if not isinstance(source, recorder.tensor_type) or source.stop_gradient:
        return
    if DOOR.is_initialized(source) and is_floating(source):
        key = recorder.tensors.key_of(source)
        recorder.events.note("read", call.frame, tensor=key, detail=detail)
