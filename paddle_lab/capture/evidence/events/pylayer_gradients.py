"""What a PyLayer's backward did not return: gradients it left out."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder


def note_left_out(recorder: Recorder, frame: FrameType | None, returned: Any) -> None:
    """Note which of a PyLayer's inputs got ``None`` for a gradient: Paddle makes zeros of it.

    The event stands in the scope of the backward, which tells the PyLayer's op; its detail counts
    the op's inputs: ``"pylayer 0,2"``.
    """
    values = returned if isinstance(returned, (tuple, list)) else (returned,)
    left_out = [str(number) for number, value in enumerate(values) if value is None]
    if left_out:
        detail = f"pylayer {','.join(left_out)}"
        recorder.events.note("gradient_stopped", frame, detail=detail)
