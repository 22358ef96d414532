"""The hook around what switches gradients off and on.

``no_grad``, ``enable_grad`` and ``set_grad_enabled``, as blocks and as decorators, all call one
function of Paddle's module. The stack of an event holds the frame whose ``with`` it was, or the
wrapper's that the decorator made.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.recorder.faults import attempt
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.recorder.sinks import SINKS
from paddle_lab.capture.recorder.thread_state import OPTIMIZER


def gradient_mode_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patch that notes ``gradient_off`` and ``gradient_on`` events."""
    is_enabled = paddle.is_grad_enabled

    def around(function: Any) -> Callable[..., Any]:
        def set_grad_enabled(mode: Any) -> Any:
            active = SINKS.active
            changes = bool(active) and bool(mode) != is_enabled()
            result = function(mode)
            if changes:
                kind = "gradient_on" if mode else "gradient_off"
                for recorder in active:
                    attempt(recorder, _note, recorder, _getframe(1), kind)
            return result

        set_grad_enabled.__wrapped__ = function  # type: ignore[attr-defined]
        return set_grad_enabled

    return [DOOR.patch("set_grad_enabled", around)]


def _note(recorder: Recorder, frame: FrameType, kind: str) -> None:
    # Every optimizer switches them off for its own ops.
    if recorder.thread().phase != OPTIMIZER:
        recorder.events.note(kind, frame)
        recorder.tensor_lives.look()
