"""Records what dropout does to results of collectives that are the same on all ranks.

The ranks must draw the same dropout mask for such a tensor, so that it stays the same on all ranks.
Only results of collectives are looked at, not tensors that are computed from them.
"""

from __future__ import annotations

import weakref
from functools import wraps
from sys import _getframe
from typing import Any

from paddle_lab.capture.hooks.patches import FunctionPatch
from paddle_lab.capture.ranks.digests import digest_of
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
        """Note that a collective made a tensor the same on some ranks."""
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
        """Write checksums before and after dropout, at calls 1, 2, 4, 8, … of a line."""
        held, version, ranks = self._results[id(x)]
        is_held = held() is x
        if not is_held or x.inplace_version != version:
            return
        stack = user_stack(_getframe(3))
        count = self._counts[stack] = self._counts.get(stack, 0) + 1
        if count & (count - 1):
            return
        before, after = digest_of(x), digest_of(result)
        self._events.note(
            "dropout", call=count, stack=stack, ranks=ranks, before=before, after=after
        )
