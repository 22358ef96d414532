"""What a backward call cannot begin at: tensors that no gradient can leave."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any

from paddle_lab.capture.backward_graph.graphs import flat

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder


def note_rootless(recorder: Recorder, tensors: Any, frame: FrameType) -> None:
    """Note the tensors of a backward call behind which there is no graph."""
    for tensor in flat(tensors):
        if isinstance(tensor, recorder.tensor_type) and _is_rootless(tensor):
            key = recorder.tensors.key_of(tensor)
            recorder.events.note("rootless_backward", frame, tensor=key)


def _is_rootless(tensor: Any) -> bool:
    # A leaf of its own (``stop_gradient = False`` set on a result) gets a gradient and ends it.
    return bool(tensor.stop_gradient or tensor.is_leaf)
