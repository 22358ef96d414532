"""What a backward call cannot begin at: tensors that no gradient can leave."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any

from paddle_lab.capture.backward_graphs import flat

if TYPE_CHECKING:
    from paddle_lab.capture.recorder import Recorder


def note_rootless(recorder: Recorder, tensors: Any, frame: FrameType) -> None:
    """Note the tensors of a backward call that need no gradient: Paddle passes them over."""
    for tensor in flat(tensors):
        if isinstance(tensor, recorder.tensor_type) and tensor.stop_gradient:
            key = recorder.tensors.key_of(tensor)
            recorder.events.note("rootless_backward", frame, tensor=key)
