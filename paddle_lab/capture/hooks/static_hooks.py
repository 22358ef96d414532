"""The hooks around compiled programs: each run is recorded as one op, ``run_program``.

A function of ``paddle.jit.to_static`` builds its program with symbolic values, and SOT reads
bytecode and compares functions by identity. So the hooks are removed during the call, except the
hook that notes which programs run (:mod:`paddle_lab.capture.hooks.programs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any

from paddle_lab.capture.breaks.watch import Watched, watching
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.programs import run_of_executor, running_layers, runs_of_layers
from paddle_lab.capture.hooks.recorded_calls import OpenCall, recording
from paddle_lab.capture.memory.log.allocator_log import ALLOCATOR_LOG
from paddle_lab.capture.recorder.program_log import EXECUTOR, FULL_GRAPH, SOT
from paddle_lab.capture.recorder.recorder import Resolved
from paddle_lab.capture.static.sot_lines import sot_lines

_NAME = "run_program"


def static_patches(
    suspended: Callable[[], AbstractContextManager[None]], *, tells_programs: bool
) -> Callable[[Any], list[AttributePatch]]:
    """Return a function that makes the patches of ``StaticFunction`` and ``Executor.run``.

    Parameters
    ----------
    suspended
        Makes a context in which no hook is installed.
    tells_programs
        Whether a hook notes which programs run.
    """

    @contextmanager
    def aside(opened: Sequence[_FunctionCall]) -> Iterator[None]:
        ALLOCATOR_LOG.keep_grad_nodes()
        before = partial(_begin_program, opened)
        with suspended(), running_layers(before) as layers, ExitStack() as around_sot:
            for call in opened:
                call.layers, call.tells_programs = layers, tells_programs
            if any(call.is_sot for call in opened):
                around_sot.enter_context(sot_lines())
                if _can_watch():
                    watched = Watched()
                    around_sot.enter_context(watching(watched))
                    for call in opened:
                        call.watched = watched
            yield

    def patches(paddle: Any) -> list[AttributePatch]:
        found = [
            AttributePatch(paddle.static.Executor, "run", lambda run: recording(run, _ExecutorCall))
        ]
        if DOOR.has("programs"):
            found.append(
                AttributePatch(
                    DOOR.static_function,
                    "__call__",
                    lambda call: recording(call, _FunctionCall, aside),
                )
            )
        return found

    return patches


def _begin_program(
    opened: Sequence[_FunctionCall], layer: Any, given: Any
) -> Callable[[Any], None]:
    noted = [(call, call.begin_program(layer, given)) for call in opened]

    def ended(result: Any) -> None:
        for call, at in noted:
            call.end_program(at, result)

    return ended


def _can_watch() -> bool:
    return all(map(DOOR.has, ("graph_breaks", "sot_lines", "static_programs")))


class _ExecutorCall(OpenCall):
    """A running call of ``Executor.run``."""

    resolved: Resolved = ([], [], -1)

    def end(self) -> None:
        """Record a call that returned, and its program if the program can be read."""
        op = self.recorder.end_op(_NAME, (), self.resolved, (), *self.times_ns, self.caller)
        with suppress(Exception):
            run = run_of_executor(self.args[0], self.args[1:], self.kwargs)
            self.recorder.programs.note(op, EXECUTOR, [run])

    def fail(self) -> None:
        """Record a call that raised."""
        self.recorder.fail_op(_NAME, self.resolved, *self.times_ns, self.caller)


class _FunctionCall(_ExecutorCall):
    """A running call of a function that ``to_static`` has converted."""

    layers: list[Any]
    """The layers whose programs have run."""
    ran = False
    """Whether a program was noted that can run again."""
    tells_programs = False
    layer: Any = None
    watched: Watched | None = None
    """What SOT does during the call, if SOT can be watched."""

    @property
    def is_sot(self) -> bool:
        """Whether SOT compiles the function."""
        return "Symbolic" in type(self.args[0]).__name__

    def begin(self, _frame: FrameType) -> None:
        recorder = self.recorder
        reference: Any = DOOR.static_layer(self.args[0])
        layer: Any = None if reference is None else reference()
        self.layer = layer
        if layer is not None:
            # The program reads its parameters without calling an op that is recorded.
            for parameter in layer.parameters():
                recorder.tensors.key_of(parameter)
            self._note_unseen_ops(have_run=self.is_sot)
        self.resolved = recorder.begin_op(self.args[1:], self.kwargs)

    def _note_unseen_ops(self, *, have_run: bool) -> None:
        """Note that ops may run that no hook sees: between two programs of SOT, or instead."""
        if self.layer is not None and self.recorder.call_log is not None:
            tensors = [*self.layer.parameters(), *self.layer.buffers()]
            self.recorder.call_log.note_unseen_ops(tensors, have_run=have_run)

    def begin_program(self, layer: Any, given: Any) -> int:
        """Note a program that is about to run. Return its position among the noted calls, or -1."""
        log = self.recorder.call_log
        return -1 if log is None else log.begin_program(layer, given, is_sot=self.is_sot)

    def end_program(self, at: int, result: Any) -> None:
        """Note what a program returned."""
        if at >= 0 and self.recorder.call_log is not None:
            self.recorder.call_log.end(-1, at, result)
            self.ran = True

    def end(self) -> None:
        """Record a call that returned."""
        recorder, (_, *args) = self.recorder, self.args
        if not self.layers:  # to_static is off, for example
            self._note_unseen_ops(have_run=True)
        runs = runs_of_layers(self.layers)
        read = {id(parameter): parameter for run in runs for parameter in run.parameters}
        # Give each parameter a slot of its own. A grad node takes no hooks if its op takes a list
        # of tensors.
        for slot, parameter in enumerate(read.values(), len(args)):
            self.resolved[0].extend((slot, recorder.tensors.key_of(parameter)))
        values = self.result
        values = list(values.values()) if isinstance(values, dict) else values
        if self.ran and recorder.call_log is not None:
            given = self.args[1:], self.kwargs, read
            at = recorder.call_log.begin_programs(given, len(self.resolved[0]) // 2)
            self.resolved = *self.resolved[:2], at
        op = recorder.end_op(_NAME, tuple(args), self.resolved, values, *self.times_ns, self.caller)
        # If layers ran but their programs cannot be read, note nothing, not even "no program".
        if runs or (self.tells_programs and not self.layers):
            recorder.programs.note(op, SOT if self.is_sot else FULL_GRAPH, runs, self.layer)
        self._note_breaks()

    def fail(self) -> None:
        """Record a call that raised."""
        super().fail()
        self._note_breaks()

    def _note_breaks(self) -> None:
        notices = self.recorder.notices
        if self.watched is None and self.is_sot:
            off = DOOR.notices({"graph_breaks"})
            notices.extend(notice for notice in off if notice not in notices)
        elif self.watched is not None:
            with suppress(Exception):
                code = getattr(DOOR.function_of_static(self.args[0]), "__code__", None)
                lines = self.recorder.breaks.note(self.watched, code, self.caller)
                self.recorder.programs.eager_lines.update(lines)
