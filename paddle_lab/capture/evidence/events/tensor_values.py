"""Hooks around calls that move values between Python and tensors without an op.

Reads: ``tolist``, ``__array__``, ``__float__`` and similar methods call ``numpy``; ``item`` calls
``_getitem_from_offset``. A read is recorded if the trace has seen the tensor before, or if the
tensor needs a gradient. So the read of a new batch of data is not recorded.

Creations: a tensor is created from Python values, or a parameter is created. The new tensor gets
its row at once, so that later ops that read it are linked to this line.

Overwrites: Paddle does not count these writes as versions. So the tensor keeps its row, and the
event says after which op the values changed, and the checksum of a parameter's new values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.gradient_stops import note_view
from paddle_lab.capture.evidence.events.noting import Call, is_floating, noted
from paddle_lab.capture.evidence.step_looks import MOST_VALUES
from paddle_lab.capture.evidence.values.memory import digest_at, memory_of
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.rows.cells import NO_KEY

if TYPE_CHECKING:
    from paddle_lab.capture.evidence.events.noting import Note


def read_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches that record ``read`` events."""
    return [
        noted((paddle.Tensor, "numpy"), _read("numpy"), copies=True),
        noted("item", _read("item")),
    ]


def creation_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches that record ``created`` events."""
    return [
        # paddle.to_tensor calls this function. (Many modules import paddle.to_tensor by name.)
        noted("to_tensor", _created("to_tensor"), copies=True),
        # This is paddle.Tensor(array), which paddle.to_tensor also calls in the end.
        noted((paddle.Tensor, "__init__"), _note_constructed),
        noted("from_dlpack", _created("from_dlpack")),
        noted("create_parameter", _note_parameter),
        noted((DOOR.parameter_type, "__deepcopy__"), _note_parameter),
    ]


def overwrite_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches that record ``overwritten`` events."""
    return [
        noted((paddle.Tensor, "set_value"), _overwritten("set_value")),
        noted((paddle.Tensor, "copy_"), _overwritten("copy_"), copies=True),
    ]


def _note(recorder: Recorder, kind: str, call: Call, tensor: Any, detail: str) -> int:
    key: int = recorder.tensors.key_of(tensor)
    recorder.events.note(kind, call.frame, tensor=key, detail=detail)
    return key


def _read(name: str) -> Note:
    def note(recorder: Recorder, call: Call) -> None:
        tensor, result = call.args[0], call.result
        is_constant = tensor.stop_gradient and recorder.tensors.known_key(tensor) == NO_KEY
        if is_constant or not DOOR.is_initialized(tensor) or not is_floating(tensor):
            return
        # A single number may later be passed to an op. It is found by the number in the event.
        is_number = result.size == 1 and result.dtype.kind in "fc"
        _note(recorder, "read", call, tensor, f"{name} {result.item()!r}" if is_number else name)

    return note


def _created(detail: str) -> Note:
    def note(recorder: Recorder, call: Call) -> None:
        tensor = call.result
        # Labels and indices get no gradient.
        if (
            isinstance(tensor, recorder.tensor_type)
            and DOOR.is_initialized(tensor)
            and is_floating(tensor)
        ):
            _note(recorder, "created", call, tensor, detail)

    return note


_note_tensor = _created("Tensor")
_note_made_parameter = _created("parameter")


def _note_constructed(recorder: Recorder, call: Call) -> None:
    # If Paddle's own code constructs a tensor, the call of that code is recorded, if anything.
    module = call.frame.f_globals.get("__name__") or ""
    if module.partition(".")[0] == "paddle":
        return
    made, *given = call.args
    for source in (*given, *call.kwargs.values()):
        if isinstance(source, recorder.tensor_type):
            note_view(recorder, call.frame, source, made)
            return
    _note_tensor(recorder, call._replace(result=made))


def _note_parameter(recorder: Recorder, call: Call) -> None:
    if isinstance(call.result, recorder.parameter_type):
        _note_made_parameter(recorder, call)


def _overwritten(detail: str) -> Note:
    def note(recorder: Recorder, call: Call) -> None:
        tensor, *given = call.args
        source = given[0] if given else None
        if (
            isinstance(source, recorder.tensor_type)
            and not (source.stop_gradient and recorder.tensors.known_key(source) == NO_KEY)
            and DOOR.is_initialized(source)
            and is_floating(source)
        ):
            _note(recorder, "read", call, source, detail)
        if isinstance(tensor, recorder.tensor_type) and DOOR.is_initialized(tensor):
            place = (
                memory_of(tensor, MOST_VALUES)
                if isinstance(tensor, recorder.parameter_type)
                else None
            )
            told = f"{detail} {digest_at(*place)}" if place else detail
            told += " itself" * (source is tensor)
            key = _note(recorder, "overwritten", call, tensor, told)
            for listener in recorder.tensors.change_listeners:
                listener(tensor, key)

    return note
