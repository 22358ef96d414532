"""Records what ``DataParallel`` does in C++, and checks that all ranks have equal parameters.

A backward call in which ``DataParallel`` reduces gradients counts as one collective. An optimizer
step writes checksums of the parameters whose gradients were reduced, because these parameters must
be equal on all ranks. It also writes the names of parameters that got no gradient.
"""

from __future__ import annotations

import weakref
import zlib
from collections.abc import Callable
from functools import wraps
from itertools import islice
from sys import _getframe
from typing import Any, Final

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.search import with_own_init, with_subclasses
from paddle_lab.capture.ranks.collective_hooks import CollectiveHooks
from paddle_lab.capture.ranks.digests import digest_of
from paddle_lab.capture.ranks.event_file import EventFile
from paddle_lab.capture.ranks.gradient_names import GradientNames, parameters_of
from paddle_lab.capture.ranks.patch_set import PatchSet
from paddle_lab.capture.ranks.user_stack import Line, user_stack

_MOST_NAMES: Final = 50

Buckets = tuple[tuple[str, ...], ...]
_Reduced = tuple[Buckets, tuple[int, ...], dict[str, tuple[int, ...]]]
"""The buckets of a model, the ranks of its group, and the ranks that reduce each parameter."""


class DataParallelHooks(PatchSet):
    """Hooks around ``DataParallel``, backward calls and optimizer steps.

    Parameters
    ----------
    paddle
        The paddle module.
    events
        The file of this rank.
    collectives
        Writes the collectives.
    names
        Finds the parameter of a gradient.
    """

    def __init__(
        self, paddle: Any, events: EventFile, collectives: CollectiveHooks, names: GradientNames
    ) -> None:
        self._is_grad_enabled: Callable[[], bool] = paddle.is_grad_enabled
        self._events = events
        self._collectives = collectives
        self._names = names
        self._armed: Callable[[], Any] | None = None
        """The model whose forward call made the next backward call reduce gradients."""
        self._buckets_in: weakref.WeakKeyDictionary[Any, _Reduced] = weakref.WeakKeyDictionary()
        self._checksums: weakref.WeakKeyDictionary[Any, tuple[int, int]]
        self._checksums = weakref.WeakKeyDictionary()
        self._backward_stack: tuple[Line, ...] = ()
        self._step = 0
        optimizer = paddle.optimizer.Optimizer
        super().__init__(
            AttributePatch(paddle.DataParallel, "forward", self._around_forward),
            DOOR.patch("run_backward", self._around_backward),
            *(
                AttributePatch(kind, "__init__", self._around_init)
                for kind in with_own_init(optimizer)
            ),
            *(
                AttributePatch(kind, "step", self._around_step)
                for kind in with_subclasses(optimizer)
                if "step" in vars(kind)
            ),
        )

    def close(self) -> None:
        """Remove the hooks."""
        super().close()
        self._names.close()

    def _around_init(self, init: Any) -> Any:
        @wraps(init)
        def wrapper(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            init(optimizer, *args, **kwargs)
            self._events.attempt(self._names.add, optimizer)

        return wrapper

    def _around_forward(self, forward: Any) -> Any:
        @wraps(forward)
        def wrapper(model: Any, *args: Any, **kwargs: Any) -> Any:
            outputs = forward(model, *args, **kwargs)
            self._events.attempt(self._arm, model)
            return outputs

        return wrapper

    def _around_backward(self, run: Any) -> Any:
        @wraps(run)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            key = self._events.attempt(self._begin_backward)
            if key is None:
                return run(*args, **kwargs)
            return self._collectives.ran(key, run, *args, **kwargs)

        return wrapper

    def _arm(self, model: Any) -> None:
        if self._is_grad_enabled() and model.grad_need_sync and model.group.nranks > 1:
            self._armed = weakref.ref(model)

    def _begin_backward(self) -> int | None:
        """Write that a backward call with ``DataParallel`` begins, and return its number.

        Return ``None`` if ``DataParallel`` will reduce no gradients in the call.
        """
        self._names.forget_addresses()
        self._backward_stack = user_stack(_getframe(3))
        model = self._armed() if self._armed is not None else None
        self._armed = None
        if model is None:
            return None
        if model not in self._buckets_in:
            buckets, ranks = _buckets_of(model), tuple(model.group.ranks)
            reduced = {name: ranks for bucket in buckets for name in bucket}
            self._buckets_in[model] = buckets, ranks, reduced
        buckets, ranks, reduced = self._buckets_in[model]
        self._names.reduced.update(reduced)
        if model.find_unused_parameters:
            self._names.may_lack.update(reduced)
        return self._collectives.begin("backward", model.group.id, ranks, buckets=buckets)

    def _around_step(self, step: Any) -> Any:
        @wraps(step)
        def wrapper(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            self._events.attempt(self._tell_step, optimizer)
            return step(optimizer, *args, **kwargs)

        return wrapper

    def _tell_step(self, optimizer: Any) -> None:
        """Write which parameters got no gradient, and a checksum of the smallest.

        At steps 1, 2, 4, 8, … also write which are frozen, and checksums of all.
        """
        reduced, without = self._names.next_step()
        if not reduced:
            return
        self._step += 1
        parameters = parameters_of(optimizer)
        told = [one for one in parameters if one.name in reduced and DOOR.is_initialized(one)]
        if self._step & (self._step - 1):
            told = [min(told, key=lambda one: int(one.size))] if told else []
        elif without is not None:
            frozen = [one.name for one in parameters if one.stop_gradient]
            without |= dict.fromkeys(sorted({*frozen} - {*reduced}), ())
        digests = {one.name: (digest_of(one), reduced[one.name]) for one in told}
        self._events.note(
            "step",
            step=self._step,
            stack=user_stack(_getframe(2)),
            backward=self._backward_stack,
            without=without and dict(islice(without.items(), _MOST_NAMES)),
            digests=digests,
            rate=self._events.attempt(lambda: float(optimizer.get_lr())),
            parameters=self._checksum(optimizer, parameters),
        )

    def _checksum(self, optimizer: Any, parameters: list[Any]) -> int:
        """Return a checksum of the names and shapes of parameters."""
        count, checksum = self._checksums.get(optimizer, (-1, 0))
        if count != len(parameters):
            names = repr([(one.name, one.shape) for one in parameters])
            checksum = zlib.crc32(names.encode())
            self._checksums[optimizer] = len(parameters), checksum
        return checksum


def _buckets_of(model: Any) -> Buckets:
    """Return the groups of parameters that ``DataParallel`` reduces together, in its order."""
    names = [
        one.name
        for one in model.parameters()
        if one.trainable and not getattr(one, "no_sync", False)  # as DataParallel itself asks
    ]
    groups = getattr(model, "group_indices", None) or [range(len(names))]
    return tuple(tuple(names[index] for index in group) for group in reversed(groups))
