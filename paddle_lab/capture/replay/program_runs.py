"""Runs compiled programs again, apart from the user's: with scopes and executors of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.replay.calls import Irreplayable
from paddle_lab.capture.replay.op_rules import is_random
from paddle_lab.capture.static.live_program import ops_in
from paddle_lab.programs.program import computes
from paddle_lab.words import say

Place = tuple[int, int]
"""A value inside a program: the position of its op among the ops that compute, and that of a tensor
among those that the op makes; in a backward, among the gradients that the op is given."""
_IN_ORDER = "FLAGS_enable_pir_in_executor_trace_run"
"""Whether ops run in the calling thread, one after the other, as in programs of SOT."""


@cache
def stand_in(paddle: Any) -> Any:
    """Return a PyLayer that takes the place of other code, in the graph alone."""

    class StandIn(paddle.autograd.PyLayer):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, made: Any, *_inputs: Any) -> Any:
            context.passed, outputs = made
            return tuple(outputs())

        @staticmethod
        def backward(context: Any, *gradients: Any) -> Any:
            return context.passed(*gradients)

    return StandIn


class ProgramRun:
    """A program of ``to_static``, as the function of a call.

    Parameters
    ----------
    paddle
        The paddle module.
    program
        Paddle's program, with its forward and backward.
    is_sot
        Whether SOT compiled the program. Its ops then run in the calling thread.
    """

    def __init__(self, paddle: Any, program: Any, *, is_sot: bool) -> None:
        self._paddle, self.program, self._is_sot = paddle, program, is_sot
        names = DOOR.program_names(program)
        self._given = *names["fx_names"], *names["fp_names"]
        self._gradients = *names["bx_g_names"], *names["bp_g_names"]
        self._outputs, self._kept = names["fo_names"], names["fm_names"]
        self._of_outputs = names["bo_g_names"]
        ops = [*ops_in(DOOR.forward_program(program).global_block())]
        self.is_random = any(is_random(op.name()) for op in ops)
        self._has_branches = any(op.name() == "cf.stack_create" for op in ops)
        """Whether the backward reads what an ``if`` or ``while`` kept, which is no tensor."""
        self.leaves_unwritten = any("empty" in op.name() for op in ops)
        """Whether a value may be what was in memory before."""
        makers = [
            value.get_defining_op()
            for op in ops
            if op.name().endswith("_")
            for value in op.operands_source()
            if value.initialized()
        ]
        self._written = {_name_of(maker) for maker in makers if maker is not None}
        self.inside: dict[str, Place] = {}
        """Values inside that a run also makes, by what the door calls the program."""
        self.found: list[Any] = []
        """The values inside the backward, one for each of its runs."""
        self.runners: dict[Any, Runner] = {}
        """What a replay has built: building takes longer than most runs."""

    def written(self, given: Sequence[Any]) -> Iterator[Any]:
        """Yield the tensors that the program may write: running statistics, for example."""
        for name, tensor in zip(self._given, given, strict=True):
            if name in self._written or (tensor.stop_gradient and tensor.persistable):
                yield tensor

    def __call__(self, *given: Any) -> list[Any]:
        """Run the program on its inputs and parameters. Return its outputs."""
        known = dict(zip(self._given, given, strict=True))
        stops = [tensor.stop_gradient for tensor in given]
        builds_graph = self._paddle.is_grad_enabled() and not all(stops)
        if builds_graph and self._has_branches:
            raise Irreplayable(say("replay.branches"))
        kept = self._kept if builds_graph else []
        names = [*self._outputs, *kept]
        found = self._runner("forward_program", names).run(known)
        made, inside = found[: len(self._outputs)], found[len(names) :]
        if not builds_graph:
            return [*made, *inside]
        known |= zip(names, found, strict=False)
        shown = _outputs_of(DOOR.backward_program(self.program).global_block())
        gradients = zip(self._gradients, stops, strict=True)
        passes = ["" if stop or name not in shown else name for name, stop in gradients]
        wanted = [name for name in passes if name]
        backward = self._runner("backward_program", wanted)

        def passed(*gradients: Any) -> tuple[Any, ...]:
            values = backward.run(known | dict(zip(self._of_outputs, gradients, strict=True)))
            self.found += values[len(wanted) :]
            by_name = dict(zip(wanted, values, strict=False))
            return tuple(by_name.get(name) for name in passes)

        outputs = stand_in(self._paddle).apply((passed, lambda: made), *given)
        for output, name in zip(outputs, self._of_outputs, strict=True):
            output.stop_gradient = name not in backward.names
        return [*outputs, *inside]

    def _runner(self, part: str, wanted: Sequence[str]) -> Runner:
        inside = self.inside.get(part)
        key = part, inside, *wanted
        if key not in self.runners:
            made = Runner(self._paddle, getattr(DOOR, part)(self.program), wanted, self._is_sot)
            if inside is not None:
                made.add(_given_gradients if part == "backward_program" else _made, inside)
            self.runners[key] = made
        return self.runners[key]


class Runner:
    """A copy of a program, with a scope and an executor."""

    def __init__(self, paddle: Any, program: Any, wanted: Sequence[str], is_sot: bool) -> None:  # noqa: FBT001
        self._paddle, self._is_sot = paddle, is_sot
        self.program, self._scope = program.clone(), paddle.static.Scope()
        block = self.program.global_block()
        ops = [*ops_in(block)]
        self._feeds = {op.attrs()["name"] for op in ops if op.name() == "pd_op.data"}
        self.names = {*block.kwargs(), *self._feeds, *map(_name_of, ops)}
        outputs = _outputs_of(block)
        self.values = [outputs[name] for name in wanted]
        self._executor = paddle.static.Executor()

    def add(self, tensors_of: Any, place: Place) -> None:
        """Return also a value inside. It is copied at its op: later ops may write its memory."""
        block = self.program.global_block()
        op = [op for op in ops_in(block) if computes(op.name())][place[0]]
        if op not in block.ops:
            raise Irreplayable(say("replay.block"))
        found = [*tensors_of(op, [*block.ops])]
        if place[1] >= len(found):
            raise Irreplayable(say("replay.no_gradient"))
        value, before = found[place[1]]
        self.copy(value, before)

    def copy(self, value: Any, before: Any) -> None:
        """Return also a copy of a value, made before another op."""
        with DOOR.eager_mode(None), self._paddle.static.program_guard(self.program):
            self.values.append(self._paddle.assign(value))
        if before is not None:
            DOOR.move_op(self.values[-1].get_defining_op(), before)

    def run(self, known: Mapping[str, Any]) -> list[Any]:
        """Run the program. Parameters and inputs share the memory of the known tensors."""
        for name in self.names & {*known}:
            held = self._scope.var(name).get_tensor()
            try:
                held._share_data_with(known[name].get_tensor())
            except RuntimeError:  # a buffer without memory, such as the dropout state of an LSTM
                kind = str(known[name].dtype).rpartition(".")[2]
                held.set(np.zeros(known[name].shape, kind), self._paddle.CPUPlace())
        flags = self._paddle.get_flags(_IN_ORDER)
        self._paddle.set_flags({_IN_ORDER: self._is_sot})
        try:
            with DOOR.eager_mode(None):
                found = self._executor.run(
                    self.program,
                    feed={name: self._scope.find_var(name).get_tensor() for name in self._feeds},
                    fetch_list=self.values,
                    scope=self._scope,
                    return_numpy=False,
                )
        finally:
            self._paddle.set_flags(flags)
        return [self._kept(self._paddle.Tensor(one)) for one in found]

    def _kept(self, tensor: Any) -> Any:
        """Copy a result, on the CPU, to the current device: the next run writes into it."""
        device = self._paddle.device.get_device()
        if not DOOR.is_initialized(tensor) or device != "cpu":
            return tensor.to(device) if DOOR.is_initialized(tensor) else tensor
        return DOOR.copy_to(tensor, tensor.place, True)  # noqa: FBT003


def _made(op: Any, ops: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the tensors that an op makes, each with the op that follows, if there is one."""
    following = dict(zip((one.id() for one in ops), ops[1:], strict=False))
    for value in op.results():
        told = str(value.type())
        is_list = told.startswith("vec")
        if not is_list and "NULL" not in told:
            yield value, following.get(op.id())
        for other in ops if is_list else ():
            if other.name() == "builtin.split" and other.operands_source()[0].id == value.id:
                yield from ((one, following.get(other.id())) for one in other.results())


def _given_gradients(op: Any, ops: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the gradients that an op is given, each with the op. A sum is given its terms."""
    is_named = op.name().endswith("_grad")
    names = op.get_input_names() if is_named else ["_grad"] * len(op.operands_source())
    gradients = {
        value.id for other in ops if other.name().endswith("_grad") for value in other.results()
    }
    for name, value in zip(names, op.operands_source(), strict=True):
        maker = value.get_defining_op() if value.initialized() else None
        is_list = maker is not None and maker.name() == "builtin.combine"
        for one in maker.operands_source() if maker is not None and is_list else [value]:
            if one.initialized() and name.endswith("_grad") and (is_named or one.id in gradients):
                yield one, op


def _name_of(op: Any) -> str:
    """Return the name of a parameter or input, ``""`` for another op."""
    attribute = {"builtin.parameter": "parameter_name", "pd_op.data": "name"}.get(op.name())
    return str(op.attrs()[attribute]) if attribute else ""


def _outputs_of(block: Any) -> dict[str, Any]:
    """Return the outputs of a program, by name."""
    return {
        op.attrs()["output_name"]: op.operands_source()[0]
        for op in block.ops
        if op.name() == "builtin.shadow_output"
    }
