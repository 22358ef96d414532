"""Runs recorded calls again, and then restores the program's state."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.hooks import HOOKS
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.recorder.recorder import SINKS
from paddle_lab.capture.replay.call_log import CallLog
from paddle_lab.capture.replay.calls import (
    BACKWARD,
    HOOK,
    PROGRAM,
    PYLAYER,
    WRITE,
    Irreplayable,
    RecordedCall,
    tensors_in,
    thawed,
)
from paddle_lab.capture.replay.program_runs import ProgramRun, stand_in
from paddle_lab.capture.replay.threads import with_threads
from paddle_lab.capture.rerun.contents import put_back, random_restores
from paddle_lab.words import say

_LEVELS = {1: "O1", 2: "O2", 3: "OD"}

PROGRESS = ContextVar[Callable[[int, int], bool]]("progress", default=lambda _done, _of: True)
"""Is told how many of how many calls have run. If it returns false, the replay stops."""


def as_array(tensor: Any) -> npt.NDArray[Any]:
    """Return a tensor's values; bfloat16 as float32."""
    if "bfloat16" in str(tensor.dtype):
        tensor = tensor.detach().astype("float32")
    array: npt.NDArray[Any] = np.array(tensor.detach().numpy())
    return array


class Player:
    """One replay.

    Parameters
    ----------
    paddle
        The paddle module.
    log
        The calls of the trace.
    calls
        The calls to run, in order.
    """

    def __init__(self, paddle: Any, log: CallLog, calls: Sequence[RecordedCall]) -> None:
        self._paddle = paddle
        self._log = log
        log.players.add(self)
        self._calls = calls
        self._builds_graph = any(call.name in BACKWARD for call in self._calls)
        self._written = {
            storage
            for call in self._calls
            if call.function is not WRITE or self._builds_graph
            for storage in call.special.writes
        }
        self._needed = {number for call in self._calls for number in call.needs}
        self._playing = -1
        """The position of the backward call that runs."""
        self.tensors: dict[int, Any] = {}
        """The tensors of the replay, by number."""

    def run(self, keep: Collection[int], before: Callable[[int], object] = bool) -> None:
        """Run the calls. Keep only the tensors whose numbers are in ``keep``.

        Parameters
        ----------
        before
            Is told the position of each call before it runs.
        """
        passed = (row.reads for call in self._calls for row in call.passed)
        keep = {*keep, *chain.from_iterable(passed)}  # backward calls read them, too
        keep |= {call.special.replaces for call in self._calls}
        last_use = {
            number: at
            for at, call in enumerate(self._calls)
            for number in (*call.needs, *call.made)
            if number not in keep
        }
        drops: dict[int, list[int]] = {}
        for number, at in last_use.items():
            drops.setdefault(at, []).append(number)
        with self._aside():
            for at, call in enumerate(self._calls):
                if not PROGRESS.get()(at, len(self._calls)):
                    raise Irreplayable(say("replay.cancelled"))
                before(at)
                self._play(call)
                for number in drops.get(at, ()):
                    self.tensors.pop(number, None)

    def gradients(self, numbers: Collection[int], made_by: int | None) -> list[Any]:
        """Run the calls, the last of them backward. Return each gradient that a tensor gets in it.

        Parameters
        ----------
        numbers
            The tensor's numbers. It has several if its memory was written without an op.
        made_by
            The key of the op whose grad node gets the gradient; ``None`` for a leaf.
        """
        found: list[Any] = []

        def keep(gradient: Any) -> None:
            # ``None`` for an output that nothing used
            if gradient is not None and self._playing == self._calls[-1].at:
                found.append(as_array(gradient))

        def watch(at: int) -> None:
            is_last = at == len(self._calls) - 1
            if is_last if made_by is None else at and self._calls[at - 1].key == made_by:
                tensors = [self.tensors.get(number) for number in numbers]
                for tensor in {id(tensor): tensor for tensor in tensors}.values():
                    if tensor is not None and not tensor.stop_gradient:
                        tensor.register_hook(keep)

        self.run(numbers, watch)
        return found

    def _play(self, call: RecordedCall) -> Any:
        """Run one call again."""
        if call.function is None:
            return None
        if call.function in (PYLAYER, PROGRAM, HOOK, WRITE):
            self._play_without_op(call)
            return None
        if call.name in BACKWARD:
            self._playing = call.at
        for leaf, earlier in zip(call.special.leaves, call.special.earlier, strict=True):
            self._set_gradient(leaf, earlier)
        with contextlib.ExitStack() as modes:
            builds_graph = self._builds_graph and call.builds_graph
            DOOR.set_grad_enabled(builds_graph)
            if call.special.amp is not None:
                modes.enter_context(self._mixed_precision(call.special.amp))
            tensors = iter([*map(self._tensor, call.reads, call.stops)])
            args = thawed(call.args, tensors)
            kwargs = thawed(call.kwargs or {}, tensors)
            if call.special.random_states is not None:
                self._set_random(call.special.random_states)
            result = call.function(*args, **kwargs)
        returned = tensors_in(result, self._paddle.Tensor)
        self.tensors.update(zip(call.made, returned, strict=False))
        for number, leaf in zip(call.made, call.special.leaves, strict=False):
            # The next gradient of the leaf gets the same memory.
            if number in self._needed:
                self.tensors[number] = self._copy(self.tensors[leaf].grad)
        return result

    def _play_without_op(self, call: RecordedCall) -> None:
        """Repeat what a call did to the backward graph; without a graph it does nothing."""
        if self._builds_graph and call.function is WRITE:
            self._write(call)
        elif self._builds_graph and call.builds_graph:
            DOOR.set_grad_enabled(True)
            self._stand_in(call)

    def _write(self, call: RecordedCall) -> None:
        """Give a tensor new values as the program did: a backward graph may have saved it."""
        number, earlier = call.made[0], call.special.replaces
        tensor = self.tensors.get(earlier)
        if tensor is None:
            return
        held, storage_of = self._held(number), self._log.tape.storage_of
        if storage_of(earlier) == storage_of(number) and tensor.shape == held.shape:
            tensor.set_value(held)
        else:
            tensor.data = held
        self.tensors[number] = tensor

    def _set_gradient(self, leaf: int, number: int) -> None:
        tensor = self._tensor(leaf, stop_gradient=False)
        tensor.clear_gradient(False)  # noqa: FBT003
        if number >= 0:
            tensor.grad = self._copy(self._tensor(number, stop_gradient=True))

    def _copy(self, tensor: Any) -> Any:
        if not DOOR.is_dense(tensor):  # rows of an embedding: _copy_to() fails
            with self._paddle.no_grad():
                return self._paddle.scale(tensor, 1.0, -0.0)
        return DOOR.copy_to(tensor, tensor.place, True)  # noqa: FBT003

    def _stand_in(self, call: RecordedCall) -> None:
        """Pass on the gradients that a PyLayer or a hook returned, without its code."""

        def passed(*_gradients: Any) -> Any:
            later = (row for row in call.passed if row.at > self._playing)
            row = next(later, None)
            if row is None:
                raise Irreplayable(say("replay.no_gradient"))
            numbers = zip(row.reads, row.stops, strict=True)
            return thawed(row.args, iter([self._tensor(*one) for one in numbers]))

        inputs = [self._tensor(*one) for one in zip(call.reads, call.stops, strict=True)]
        if call.function is HOOK:
            inputs[0].register_hook(lambda _gradient: passed()[0])
            return
        # An output that is an input was written in place.
        outputs = [
            inputs[call.reads.index(number)] if number in call.reads
            else self._tensor(number, stop_gradient=True).detach()
            for number in call.made
        ]  # fmt: skip
        given = passed, lambda: outputs
        made = stand_in(self._paddle).apply(given, *inputs)
        self.tensors.update(zip(call.made, made, strict=True))

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Run a ``with`` block that traces do not record, and restore the program's state."""
        restores = random_restores(self._paddle)
        was_enabled = self._paddle.is_grad_enabled()
        active, SINKS.active = SINKS.active, ()
        try:
            threads = with_threads(self._paddle, self._log.threads)
            with HOOKS.suspended(), threads:
                yield
        except (Irreplayable, KeyboardInterrupt):
            raise
        except Exception as fault:
            raise Irreplayable(say("replay.failed", fault=described(fault))) from fault
        finally:
            SINKS.active = active
            DOOR.set_grad_enabled(was_enabled)
            put_back(restores)
            for call in self._calls:
                if isinstance(call.function, ProgramRun):
                    call.function.runners.clear()

    def _mixed_precision(self, amp: Any) -> AbstractContextManager[Any]:
        level, dtype, allowed, blocked = amp
        made: AbstractContextManager[Any] = self._paddle.amp.auto_cast(
            level=_LEVELS[level],
            dtype=dtype,
            custom_white_list=set(allowed),
            custom_black_list=set(blocked),
        )
        return made

    def _set_random(self, states: Sequence[Any]) -> None:
        DOOR.default_cpu_generator().set_state(states[0])
        for state in states[1:]:
            self._paddle.set_rng_state(state)

    def _tensor(self, number: int, stop_gradient: bool) -> Any:  # noqa: FBT001
        tensor = self.tensors.get(number)
        if tensor is None:
            tensor = self.tensors[number] = self._held(number)
            tensor.stop_gradient = stop_gradient
        if self._builds_graph and tensor.stop_gradient != stop_gradient:
            tensor.stop_gradient = stop_gradient
        return tensor

    def _held(self, number: int) -> Any:
        held = self._log.held.by_number.get(number)
        if held is None:
            raise Irreplayable(say("replay.unknown"))
        if held.lost is not None:
            raise Irreplayable(str(held.lost))
        if held.unwritten is not None:
            return self._paddle.empty(*held.unwritten)
        if self._log.tape.storage_of(number) in self._written:
            return self._copy(held.tensor)
        return held.tensor.detach()
