"""Hooks around what hands a tensor's values to Python.

``tolist``, ``__array__``, ``__float__`` and their kin come down to ``numpy``; ``item`` to
``_getitem_from_offset``. Noted are values that a gradient could have gone back through: what ops
of the trace made, and what needs a gradient. Batches of data are read without an event.
"""

from __future__ import annotations

from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.noting import Call, is_floating, noting
from paddle_lab.capture.hooks.copy_hooks import noting_copies
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.rows.cells import NO_KEY


def read_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches that note ``read`` events."""
    return [
        AttributePatch(
            paddle.Tensor, "numpy", lambda native: noting(noting_copies(native), _numpy)
        ),
        DOOR.patch("item", lambda native: noting(native, _item)),
    ]


def _numpy(recorder: Recorder, call: Call) -> None:
    _note(recorder, call, "numpy")


def _item(recorder: Recorder, call: Call) -> None:
    _note(recorder, call, "item")


def _note(recorder: Recorder, call: Call, name: str) -> None:
    tensor, result = call.args[0], call.result
    is_constant = tensor.stop_gradient and recorder.tensors.known_key(tensor) == NO_KEY
    if is_constant or not DOOR.is_initialized(tensor) or not is_floating(tensor):
        return
    # One number may come back as an op's argument; what it was tells which.
    is_number = result.size == 1 and result.dtype.kind in "fc"
    detail = f"{name} {result.item()!r}" if is_number else name
    key = recorder.tensors.key_of(tensor)
    recorder.events.note("read", call.frame, tensor=key, detail=detail)
