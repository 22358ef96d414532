"""Records what dropout does to the result of a collective, which is the same on all ranks.

Such a tensor must still be the same afterwards, so the ranks must draw the same mask. Only a tensor
that a collective itself gave is looked at: what is computed from it is not known here.
"""

from __future__ import annotations

import weakref
import zlib
from functools import wraps
from sys import _getframe
from typing import Any

from paddle_lab.capture.hooks.hooks import HOOKS
from paddle_lab.capture.hooks.patches import FunctionPatch
from paddle_lab.capture.ranks.event_file import EventFile
from paddle_lab.capture.ranks.patch_set import PatchSet
from paddle_lab.capture.ranks.user_stack import Line, user_stack

_KINDS = ("dropout", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")


class DropoutMasks(PatchSet):
    """Hooks around Paddle's dropout functions.

    Parameters
    ----------
    paddle
        The paddle module.
    events
        The file of this rank.
    """

    def __init__(self, paddle: Any, events: EventFile) -> None:
        self._events = events
        self._results: dict[int, tuple[weakref.ref[Any], int, tuple[int, ...]]] = {}
        self._counts: dict[tuple[Line, ...], int] = {}
        functional = paddle.nn.functional
        kinds = [getattr(functional, kind) for kind in _KINDS if hasattr(functional, kind)]
        patch = FunctionPatch(kinds, self._around)
        patch.find()
        super().__init__(patch)

    def add_result(self, tensor: Any, ranks: tuple[int, ...]) -> None:
        """Note that a tensor is the same on some ranks, because a collective gave it."""
        key = id(tensor)
        forget = weakref.ref(tensor, lambda _: self._results.pop(key, None))
        self._results[key] = forget, tensor.inplace_version, ranks

    def _around(self, call: Any) -> Any:
        @wraps(call)
        def wrapper(x: Any, *args: Any, **kwargs: Any) -> Any:
            result = call(x, *args, **kwargs)
            if id(x) in self._results and result is not x:
                self._events.attempt(self._tell, x, result)
            return result

        return wrapper

    def _tell(self, x: Any, result: Any) -> None:
        """Write digests at calls 1, 2, 4, 8, … of a line."""
        held, version, ranks = self._results[id(x)]
        is_held = held() is x
        if not is_held or x.inplace_version != version:
            return
        stack = user_stack(_getframe(3))
        count = self._counts[stack] = self._counts.get(stack, 0) + 1
        if count & (count - 1):
            return
        with HOOKS.suspended():
            before, after = _digest(x), _digest(result)
        self._events.note(
            "dropout", call=count, stack=stack, ranks=ranks, before=before, after=after
        )


def _digest(tensor: Any) -> int:
    return zlib.crc32(tensor.detach().numpy().tobytes())
