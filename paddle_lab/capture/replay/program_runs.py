"""Runs compiled programs again, apart from the user's: with scopes and executors of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.replay.calls import Irreplayable
from paddle_lab.capture.replay.op_rules import is_random
from paddle_lab.words import say

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
        ops = [*_ops_in(DOOR.forward_program(program).global_block())]
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
        self.runners: dict[Any, _Runner] = {}
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
        forward = self._runner(DOOR.forward_program, [*self._outputs, *kept])
        found = forward.run(known)
        made = found[: len(self._outputs)]
        if not builds_graph:
            return made
        known |= zip((*self._outputs, *kept), found, strict=True)
        shown = _outputs_of(DOOR.backward_program(self.program).global_block())
        gradients = zip(self._gradients, stops, strict=True)
        passes = ["" if stop or name not in shown else name for name, stop in gradients]
        wanted = [name for name in passes if name]
        backward = self._runner(DOOR.backward_program, wanted)

        def passed(*gradients: Any) -> tuple[Any, ...]:
            values = backward.run(known | dict(zip(self._of_outputs, gradients, strict=True)))
            by_name = dict(zip(wanted, values, strict=True))
            return tuple(by_name.get(name) for name in passes)

        outputs = stand_in(self._paddle).apply((passed, lambda: made), *given)
        for output, name in zip(outputs, self._of_outputs, strict=True):
            output.stop_gradient = name not in backward.names
        return list(outputs)

    def _runner(self, part: Any, wanted: Sequence[str]) -> _Runner:
        key = part, *wanted
        if key not in self.runners:
            self.runners[key] = _Runner(self._paddle, part(self.program), wanted, self._is_sot)
        return self.runners[key]


class _Runner:
    """A copy of a program, with a scope and an executor."""

    def __init__(self, paddle: Any, program: Any, wanted: Sequence[str], is_sot: bool) -> None:  # noqa: FBT001
        self._paddle, self._is_sot = paddle, is_sot
        self._program, self._scope = program.clone(), paddle.static.Scope()
        block = self._program.global_block()
        ops = [*_ops_in(block)]
        self._feeds = {op.attrs()["name"] for op in ops if op.name() == "pd_op.data"}
        self.names = {*block.kwargs(), *self._feeds, *map(_name_of, ops)}
        outputs = _outputs_of(block)
        self._values = [outputs[name] for name in wanted]
        self._executor = paddle.static.Executor()

    def run(self, known: Mapping[str, Any]) -> list[Any]:
        """Run the program. Parameters and inputs share the memory of the known tensors."""
        for name in self.names & {*known}:
            held = self._scope.var(name).get_tensor()
            with suppress(RuntimeError):  # it has no memory, such as an empty list of axes
                held._share_data_with(known[name].get_tensor())
        flags = self._paddle.get_flags(_IN_ORDER)
        self._paddle.set_flags({_IN_ORDER: self._is_sot})
        try:
            with DOOR.eager_mode(None):
                found = self._executor.run(
                    self._program,
                    feed={name: self._scope.find_var(name).get_tensor() for name in self._feeds},
                    fetch_list=self._values,
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


def _ops_in(block: Any) -> Iterator[Any]:
    """Yield each op of a block, and after it the ops of its own blocks."""
    for op in block.ops:
        yield op
        for inner in op.blocks():
            yield from _ops_in(inner)


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
