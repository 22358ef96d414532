"""Hooks around what makes tensors of Python's values, and parameters.

Each new tensor of numbers gets its row at once, so that the ops that read it later are known to
read what was made at this line.
"""

from __future__ import annotations

from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.gradient_stops import note_view
from paddle_lab.capture.evidence.events.noting import Call, is_floating, noting
from paddle_lab.capture.hooks.copy_hooks import noting_copies
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.recorder.recorder import Recorder

PARAMETER_DETAIL = "parameter"


def creation_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches that note ``created`` events."""
    return [
        # What paddle.to_tensor, of which many modules hold a binding, calls by name.
        DOOR.patch("to_tensor", lambda function: noting(noting_copies(function), _to_tensor)),
        # paddle.Tensor(array), which to_tensor comes to in the end as well.
        AttributePatch(paddle.Tensor, "__init__", lambda method: noting(method, _constructed)),
        DOOR.patch("from_dlpack", lambda function: noting(function, _from_dlpack)),
        DOOR.patch("create_parameter", lambda method: noting(method, _parameter)),
        AttributePatch(
            DOOR.parameter_type, "__deepcopy__", lambda method: noting(method, _parameter)
        ),
    ]


def _to_tensor(recorder: Recorder, call: Call) -> None:
    _note(recorder, call, "to_tensor")


def _constructed(recorder: Recorder, call: Call) -> None:
    # What Paddle's own code constructs is noted where that code was called, or is no user's value.
    module = call.frame.f_globals.get("__name__") or ""
    if module.partition(".")[0] == "paddle":
        return
    made, *given = call.args
    for source in (*given, *call.kwargs.values()):
        if isinstance(source, recorder.tensor_type):
            note_view(recorder, call.frame, source, made)
            return
    _note(recorder, call._replace(result=made), "Tensor")


def _from_dlpack(recorder: Recorder, call: Call) -> None:
    if isinstance(call.result, recorder.tensor_type):
        _note(recorder, call, "from_dlpack")


def _parameter(recorder: Recorder, call: Call) -> None:
    if isinstance(call.result, recorder.parameter_type):
        _note(recorder, call, PARAMETER_DETAIL)


def _note(recorder: Recorder, call: Call, detail: str) -> None:
    tensor = call.result
    # Labels and indices carry no gradient, whatever they were made of.
    if DOOR.is_initialized(tensor) and is_floating(tensor):
        key = recorder.tensors.key_of(tensor)
        recorder.events.note("created", call.frame, tensor=key, detail=detail)
