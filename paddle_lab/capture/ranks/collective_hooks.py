"""Hooks around collectives: the methods of Paddle's process groups.

All collectives of ``paddle.distributed`` call them, also those of objects. ``DataParallel`` reduces
gradients in C++ without them; then the whole backward call counts as one collective
(:mod:`paddle_lab.capture.ranks.data_parallel`).
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from functools import wraps
from sys import _getframe
from typing import Any, Final, NamedTuple

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch, FunctionPatch, Patch
from paddle_lab.capture.ranks.event_file import EventFile
from paddle_lab.capture.ranks.gradient_names import GradientNames
from paddle_lab.capture.ranks.user_stack import user_stack, variable_of
from paddle_lab.capture.running_layer import running_layer


class _Method(NamedTuple):
    """The positions of the arguments of a process group's method; -1 for none."""

    op: str
    tensor: int = 0
    root: int = -1
    reduce_op: int = -1
    peer: int = -1


_METHODS: Final = {
    "all_reduce": _Method("all_reduce", reduce_op=1),
    "broadcast": _Method("broadcast", root=1),
    "reduce": _Method("reduce", root=1, reduce_op=2),
    "all_gather": _Method("all_gather", tensor=1),
    "all_gather_into_tensor": _Method("all_gather", tensor=1),
    "reduce_scatter": _Method("reduce_scatter", reduce_op=2),
    "reduce_scatter_tensor": _Method("reduce_scatter", reduce_op=2),
    "scatter": _Method("scatter", root=2),
    "scatter_tensor": _Method("scatter", root=2),
    "gather": _Method("gather", root=2),
    "all_to_all": _Method("all_to_all"),
    "all_to_all_tensor": _Method("all_to_all"),
    "all_to_all_single": _Method("all_to_all"),
    "send": _Method("send", peer=1),
    "send_partial": _Method("send", peer=1),
    "recv": _Method("recv", peer=1),
    "recv_partial": _Method("recv", peer=1),
    "barrier": _Method("barrier", tensor=-1),
}
_ON_CALCULATION_STREAM: Final = "_on_calc_stream"


class CollectiveHooks:
    """Writes an event when a collective begins, and one when it ends.

    Parameters
    ----------
    paddle
        The paddle module.
    events
        The file of this rank.
    names
        Finds the parameter of a gradient.
    """

    def __init__(self, paddle: Any, events: EventFile, names: GradientNames) -> None:
        self._tensor_type = paddle.Tensor
        self._events = events
        self._names = names
        self._tasks: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._patches: list[Patch] = [
            AttributePatch(DOOR.process_group, f"{name}{ending}", self._around(method))
            for name, method in _METHODS.items()
            for ending in ("", _ON_CALCULATION_STREAM)
            if hasattr(DOOR.process_group, f"{name}{ending}")
        ]
        self._patches.append(AttributePatch(DOOR.communication_task, "wait", self._around_wait))
        start = FunctionPatch([paddle.distributed.init_parallel_env], self._around_start)
        start.find()
        self._patches.append(start)

    def open(self) -> None:
        """Install the hooks."""
        for patch in self._patches:
            patch.apply()

    def close(self) -> None:
        """Remove the hooks."""
        for patch in reversed(self._patches):
            patch.revert()

    def begin(self, op: str, group: int, ranks: list[int], **values: object) -> int:
        """Write that a collective begins, and return its number."""
        key = self._events.next_call()
        stack = user_stack(_getframe(1))
        self._events.note(
            "begin", id=key, op=op, group=group, ranks=ranks, stack=stack, **values
        )  # fmt: skip
        return key

    def end(self, key: int, error: BaseException | None = None) -> None:
        """Write that a collective ended."""
        told = {} if error is None else {"error": f"{type(error).__name__}: {error}"}
        self._events.note("end", id=key, **told)

    def ran(self, key: int, function: Callable[[], Any]) -> Any:
        """Run the function that does the work of a collective, and write how it ended."""
        try:
            result = function()
        except BaseException as error:
            self.end(key, error)
            raise
        self.end(key)
        return result

    def _around(self, method: _Method) -> Callable[[Any], Any]:
        def replacement(call: Any) -> Any:
            @wraps(call)
            def wrapper(process_group: Any, *args: Any, **kwargs: Any) -> Any:
                try:
                    key = self._begin_call(method, process_group, args)
                except Exception:  # noqa: BLE001  (the user's call runs without an event)
                    return call(process_group, *args, **kwargs)
                task = self.ran(key, lambda: call(process_group, *args, **kwargs))
                if isinstance(task, DOOR.communication_task):
                    self._tasks[task] = key
                return task

            return wrapper

        return replacement

    def _begin_call(self, method: _Method, process_group: Any, args: tuple[Any, ...]) -> int:
        groups = DOOR.groups_by_id.values()
        group = next(group for group in groups if group.process_group is process_group)

        def argument(position: int) -> Any:
            return args[position] if 0 <= position < len(args) else None

        value = argument(method.tensor)
        tensor = value[0] if isinstance(value, (list, tuple)) and value else value
        is_tensor = isinstance(tensor, self._tensor_type)
        root, peer = argument(method.root), argument(method.peer)
        name, ranks = self._names.of(tensor) if is_tensor else "", list(group.ranks)
        if method.op == "all_reduce" and name.endswith(".grad"):
            self._names.reduced[name.removesuffix(".grad")] = ranks
        return self.begin(
            method.op,
            group.id,
            ranks,
            shape=list(tensor.shape) if is_tensor else None,
            dtype=str(tensor.dtype).rpartition(".")[2] if is_tensor else "",
            reduce_op="" if method.reduce_op < 0 else _reduce_name(argument(method.reduce_op)),
            root=-1 if root is None else group.ranks[int(root)],
            peer=-1 if peer is None else group.ranks[int(peer)],
            tensor=name,
            variable=variable_of(_getframe(2), value),
            layer=running_layer(),
        )

    def _around_wait(self, wait: Any) -> Any:
        @wraps(wait)
        def wrapper(task: Any, *args: Any) -> Any:
            key = self._tasks.pop(task, None)
            # A collective of gloo has finished when it returns, so waiting for it takes no time.
            if key is None or task.is_completed():
                return wait(task, *args)
            self._events.note("wait", id=key)
            return self.ran(key, lambda: wait(task, *args))

        return wrapper

    def _around_start(self, start: Any) -> Any:
        @wraps(start)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            world = int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))
            key = self.begin("init_parallel_env", -1, list(range(world)))
            return self.ran(key, lambda: start(*args, **kwargs))

        return wrapper


def _reduce_name(reduce_op: Any) -> str:
    return str(reduce_op).rpartition(".")[2].lower()
