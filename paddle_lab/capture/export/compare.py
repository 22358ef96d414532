"""Compares an eager run with the compiled program op by op, on two calls from one state."""

from __future__ import annotations

import signal
from copy import copy
from typing import Any, NamedTuple

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.export.aside import run_aside
from paddle_lab.capture.export.eager_ops import eager_ops
from paddle_lab.capture.export.isolation import Isolation, own_cache
from paddle_lab.capture.export.op_pairs import Pair, first_difference, pairs
from paddle_lab.capture.export.static_ops import StaticRun
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.rerun.reach import Unrepeatable
from paddle_lab.words import listing, say

CALLS = 2
"""A value that was frozen when the program was built differs in the second call only."""


class Compared(NamedTuple):
    """The pairs of one call, and the first that differs."""

    pairs: list[Pair]
    first: Pair | None
    call: int
    """Counted from 1."""

    def without_values(self) -> Compared:
        """Return the same without the outputs."""
        first = self.first and self.first.without_values()
        return Compared([pair.without_values() for pair in self.pairs], first, self.call)


def compare(model: Any, inputs: tuple[Any, ...], specification: Any = None) -> Compared:
    """Run a layer or function eagerly and compiled, from the same state, and pair the ops.

    Parameters
    ----------
    model
        A layer, a function, or what ``paddle.jit.to_static`` returned: then the program that it
        has compiled for such inputs is used.
    inputs
        Its inputs.
    specification
        What to compile for; by default for the inputs.

    Raises
    ------
    PaddleUnavailableError
        If there is no PaddlePaddle, or one older than 3.3.
    Unrepeatable
        If the state cannot be copied.
    """
    paddle = require_paddle()
    lacking = DOOR.lacking("export", "static_programs")
    if lacking:
        raise Unrepeatable(say("notices.unchecked.door", names=listing(lacking)))
    told, status = run_aside(
        paddle, lambda tell: tell(compare_here(model, inputs, specification).without_values())
    )
    if not told:
        said = signal.Signals(status).name if status else ""
        raise Unrepeatable(say("export.compare.refused", said=said))
    found: Compared = told[0]
    return found


def compare_here(model: Any, inputs: tuple[Any, ...], specification: Any = None) -> Compared:
    """Compare in this process, where Paddle may crash."""
    paddle = require_paddle()
    is_layer = isinstance(model, paddle.nn.Layer)
    forward = model.forward if is_layer else model
    plain = DOOR.undecorated(forward)[1]
    isolation = Isolation(paddle, [model, plain, *inputs])

    def copies() -> tuple[Any, ...]:
        flat = paddle.utils.flatten(list(inputs))
        made = [one.clone() if isinstance(one, paddle.Tensor) else one for one in flat]
        return tuple(paddle.utils.pack_sequence_as(list(inputs), made))

    with isolation.again(), paddle.no_grad():
        if is_layer:
            vars(model)["forward"] = plain
        run = model if is_layer else plain
        eager = []
        for _ in range(CALLS):
            given = copies()
            eager.append(eager_ops(lambda given=given: run(*given)))  # type: ignore[misc]
    with own_cache(), isolation.again(), paddle.no_grad():
        try:
            concrete = _program(paddle, forward, plain, inputs, specification, model)
        except Exception as error:  # noqa: BLE001  (an answer)
            told = described(error).strip().splitlines()[-1]
            raise Unrepeatable(say("export.compare.refused", said=told)) from None
        static = StaticRun(paddle, concrete)
        arrays = [one.numpy() for one in paddle.utils.flatten(list(copies()))
                  if isinstance(one, paddle.Tensor)]  # fmt: skip
        programs = [static.run(arrays) for _ in range(CALLS)]
    for call, (ops, others) in enumerate(zip(eager, programs, strict=True), 1):
        found = pairs(ops, others)
        first = first_difference(found)
        if first is not None or call == CALLS:
            return Compared(found, first, call)
    raise AssertionError


def _program(
    paddle: Any, forward: Any, plain: Any, inputs: tuple[Any, ...], spec: Any, model: Any
) -> Any:
    training = getattr(model, "training", getattr(forward, "_training", True))
    if isinstance(forward, DOOR.static_function_kind):
        cache = forward.program_cache
        held = {name: copy(value) for name, value in vars(cache).items()}
        try:
            return DOOR.concrete_program(forward, *inputs, is_train=training)[0]
        finally:
            vars(cache).update(held)
    compiled = paddle.jit.to_static(plain, input_spec=spec, full_graph=True, backend=None)
    return DOOR.concrete_program(compiled, *inputs, is_train=training)[0]
