"""Hooks around collectives: the methods of Paddle's process groups.

All collectives of ``paddle.distributed`` call these methods, also those for Python objects. But
``DataParallel`` reduces gradients in C++ without these methods. Therefore such a backward call
counts as one collective: see :mod:`paddle_lab.capture.ranks.data_parallel`.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from functools import wraps
from sys import _getframe
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.flight.flight_record import FLIGHT
from paddle_lab.capture.hooks.patches import AttributePatch, FunctionPatch
from paddle_lab.capture.ranks.collective_check import CollectiveCheck
from paddle_lab.capture.ranks.dropout_masks import DropoutMasks
from paddle_lab.capture.ranks.event_file import EventFile
from paddle_lab.capture.ranks.gradient_names import GradientNames
from paddle_lab.capture.ranks.layer_paths import LayerPaths
from paddle_lab.capture.ranks.patch_set import PatchSet
from paddle_lab.capture.ranks.process_group_methods import (
    GIVES_ALL_THE_SAME,
    METHODS,
    ON_CALCULATION_STREAM,
    Method,
)
from paddle_lab.capture.ranks.rank_setup import rank_setup
from paddle_lab.capture.ranks.user_stack import lines_of, user_frames, variable_of, variables_of
from paddle_lab.runs.rank_log import NEW_GROUP


class CollectiveHooks(PatchSet):
    """Writes an event when a collective begins, and one when the collective ends.

    Parameters
    ----------
    paddle
        The paddle module.
    events
        The file of this rank.
    names
        Finds the parameter of a gradient.
    masks
        Gets each tensor that a collective makes the same on all ranks.
    """

    def __init__(
        self, paddle: Any, events: EventFile, names: GradientNames, masks: DropoutMasks
    ) -> None:
        self._tensor_type = paddle.Tensor
        self._events = events
        self._names = names
        self._masks = masks
        self.check: CollectiveCheck | None = None
        """Compares the calls of the ranks before they run."""
        self._unchecked: dict[int, dict[str, Any]] = {}
        self._tasks: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._layers = LayerPaths()
        self._kind_names: dict[Any, str] = {}
        start = FunctionPatch([paddle.distributed.init_parallel_env], self._around_start)
        start.find()
        self._created = 0
        creation = FunctionPatch([paddle.distributed.new_group], self._around_creation)
        creation.find()
        super().__init__(
            *(
                AttributePatch(DOOR.process_group, f"{name}{ending}", self._around(method))
                for name, method in METHODS.items()
                for ending in ("", ON_CALCULATION_STREAM)
                if hasattr(DOOR.process_group, f"{name}{ending}")
            ),
            AttributePatch(DOOR.communication_task, "wait", self._around_wait),
            start,
            creation,
        )

    def begin(
        self, op: str, group: int, ranks: tuple[int, ...], value: object = None, **values: object
    ) -> int:
        """Write that a collective begins, and return the number of the call."""
        frames = user_frames(_getframe(1))
        site: dict[str, Any] = {"op": op, "group": group, "ranks": ranks, **values}
        site["stack"] = lines_of(frames)
        if value is not None and frames:
            site["variable"] = variable_of(frames[0], value)
        key = self._events.begin(site)
        if self.check is not None:
            self._unchecked[key] = site
        return key

    def ran(self, key: int, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run the function of a collective, and write how the call ended."""
        try:
            if self.check is not None and (site := self._unchecked.pop(key, None)) is not None:
                self.check.compare(site)
            result = call(*args, **kwargs)
        except BaseException as error:
            self._events.end(key, f"{type(error).__name__}: {error}")
            raise
        self._events.end(key)
        return result

    def _around(self, method: Method) -> Callable[[Any], Any]:
        def replacement(call: Any) -> Any:
            @wraps(call)
            def wrapper(process_group: Any, *args: Any, **kwargs: Any) -> Any:
                begun = self._events.attempt(self._begin_call, method, process_group, args)
                if begun is None:
                    return call(process_group, *args, **kwargs)
                key, equal_on = begun
                with FLIGHT.running(method.op, _getframe(1)):
                    task = self.ran(key, call, process_group, *args, **kwargs)
                if equal_on is not None:
                    self._events.attempt(self._masks.add_result, args[0], equal_on)
                if isinstance(task, DOOR.communication_task):
                    self._tasks[task] = key
                return task

            return wrapper

        return replacement

    def _begin_call(
        self, method: Method, process_group: Any, args: tuple[Any, ...]
    ) -> tuple[int, tuple[int, ...] | None]:
        """Write that a call begins. Return the call's number, and the ranks with equal results."""
        groups = DOOR.groups_by_id.values()
        group = next(group for group in groups if group.process_group is process_group)

        def argument(position: int) -> Any:
            return args[position] if 0 <= position < len(args) else None

        value = argument(method.tensor)
        tensor = value[0] if isinstance(value, (list, tuple)) and value else value
        is_tensor = isinstance(tensor, self._tensor_type)
        root, peer = argument(method.root), argument(method.peer)
        name, ranks = self._name(tensor) if is_tensor else "", tuple(group.ranks)
        if method.op == "all_reduce" and name.endswith(".grad"):
            self._names.reduced[name.removesuffix(".grad")] = ranks
        is_equal = is_tensor and not name and method.op in GIVES_ALL_THE_SAME
        key = self.begin(
            method.op,
            group.id,
            ranks,
            value,
            shape=tuple(tensor.shape) if is_tensor else None,
            dtype=self._name_of(tensor.dtype) if is_tensor else "",
            reduce_op="" if method.reduce_op < 0 else self._name_of(argument(method.reduce_op)),
            root=-1 if root is None else group.ranks[int(root)],
            peer=-1 if peer is None else group.ranks[int(peer)],
            tensor=name,
            layer=self._layers.running(_getframe(1)),
        )
        return key, ranks if is_equal else None

    def _name(self, tensor: Any) -> str:
        """Return the parameter of a gradient, also if only a variable leads to the parameter."""
        name = self._names.of(tensor)
        if not name:
            for frame in user_frames(_getframe(1))[:1]:
                for _, value in variables_of(frame):
                    self._names.add_seen(value)
            name = self._names.of(tensor)
        return name

    def _name_of(self, kind: Any) -> str:
        """Return the name of a dtype or reduce op. Names are kept, because ``str()`` is slow."""
        name = self._kind_names.get(kind)
        if name is None:
            name = self._kind_names[kind] = str(kind).rpartition(".")[2].lower()
        return name

    def _around_wait(self, wait: Any) -> Any:
        @wraps(wait)
        def wrapper(task: Any, *args: Any) -> Any:
            key = self._tasks.pop(task, None)
            # A collective of gloo has finished when it returns, so waiting for it takes no time.
            if key is None or task.is_completed():
                return wait(task, *args)
            self._events.wait(key)
            return self.ran(key, wait, task, *args)

        return wrapper

    def _around_creation(self, create: Any) -> Any:
        @wraps(create)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            ranks = args[0] if args else kwargs.get("ranks")
            key = self._events.attempt(self._begin_creation, ranks)
            if key is None:
                return create(*args, **kwargs)
            with FLIGHT.running("new_group", _getframe(1)):
                return self.ran(key, create, *args, **kwargs)

        return wrapper

    def _begin_creation(self, ranks: Any) -> int | None:
        """Write that a group is created; the ranks outside of the group do not wait for it."""
        self._created += 1
        world = range(int(os.environ.get("PADDLE_TRAINERS_NUM", "1")))
        members = tuple(sorted(map(int, world if ranks is None else ranks)))
        if len(members) < 2 or int(os.environ.get("PADDLE_TRAINER_ID", "0")) not in members:
            return None
        return self.begin("new_group", NEW_GROUP, members, number=self._created)

    def _around_start(self, start: Any) -> Any:
        @wraps(start)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            world = int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))
            key = self.begin("init_parallel_env", -1, tuple(range(world)))
            with FLIGHT.running("init_parallel_env", _getframe(1)):
                result = self.ran(key, start, *args, **kwargs)
            setup = self._events.attempt(rank_setup)
            self._events.note("setup", setup=setup or {})
            return result

        return wrapper
