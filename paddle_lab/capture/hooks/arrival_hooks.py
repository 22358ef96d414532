"""The hook around what hands a data loader's batches to the code that asks for them.

They are made in the loader's own thread, or in its workers, before anybody asks.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.memory.capture import OPEN_CAPTURES, note_arrivals


def arrival_patches() -> list[AttributePatch]:
    """Return the patch around the last step of every loader's ``__next__``."""
    return [DOOR.patch("read_batch", _noting_arrivals)]


def _noting_arrivals(function: Any) -> Callable[..., Any]:
    def read_next_tensor_list(*args: Any, **kwargs: Any) -> Any:
        try:
            tensors = function(*args, **kwargs)
        except BaseException as error:
            drop_frame(error)
            raise
        if OPEN_CAPTURES:
            note_arrivals(tensors, _getframe(1))
        return tensors

    read_next_tensor_list.__doc__ = getattr(function, "__doc__", None)
    read_next_tensor_list.__wrapped__ = function  # type: ignore[attr-defined]
    return read_next_tensor_list
