"""Compares an eager run with the compiled program op by op, on two calls from one state."""

from __future__ import annotations

import signal
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.export.aside import run_aside
from paddle_lab.capture.export.eager_ops import OpRun, eager_ops
from paddle_lab.capture.export.isolation import Isolation, own_cache
from paddle_lab.capture.export.op_pairs import Pair, first_difference, pairs, plain
from paddle_lab.capture.export.stages import Arrays, StageRun, compared
from paddle_lab.capture.export.static_ops import StaticRun
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.rerun.reach import Unrepeatable
from paddle_lab.words import listing, say

CALLS = 2
"""Two calls, because a value that was frozen while building differs only in the second one."""


class Compared(NamedTuple):
    """The pairs of ops of one call, and the first pair that differs."""

    pairs: list[Pair]
    first: Pair | None
    call: int
    """The number of the call, from 1."""

    def without_values(self) -> Compared:
        """Return the same pairs without the outputs."""
        first = self.first and self.first.without_values()
        return Compared([pair.without_values() for pair in self.pairs], first, self.call)


def compare(model: Any, inputs: tuple[Any, ...], specification: Any = None) -> Compared:
    """Run a layer or function eagerly and compiled, from the same state, and pair the ops.

    Parameters
    ----------
    model
        A layer, a function, or the result of ``paddle.jit.to_static``, whose program for such
        inputs is used.
    inputs
        Its inputs.
    specification
        The ``input_spec`` to compile for; by default that of the inputs.

    Raises
    ------
    PaddleUnavailableError
        If there is no PaddlePaddle, or one older than 3.3.
    Unrepeatable
        If the state cannot be copied.
    """
    paddle = require_paddle()
    lacking = DOOR.lacking("ops", "export", "static_programs", "program_values")
    if lacking:
        raise Unrepeatable(say("notices.unchecked.door", names=listing(lacking)))
    told, status = run_aside(
        paddle, lambda tell: tell(compare_here(model, inputs, specification).without_values())
    )
    if not told:
        name = signal.Signals(status).name if status else "exit"
        raise Unrepeatable(say("export.ended", signal=name))
    found: Compared = told[0]
    return found


def compare_here(model: Any, inputs: tuple[Any, ...], specification: Any = None) -> Compared:
    """Compare in this process, where Paddle may crash."""
    paddle = require_paddle()
    is_layer = isinstance(model, paddle.nn.Layer)
    forward = model.forward if is_layer else model
    own = DOOR.undecorated(forward)[1]
    isolation = Isolation(paddle, [model, own, *inputs])

    def copies() -> tuple[Any, ...]:
        flat = paddle.utils.flatten(list(inputs))
        made = [one.clone() if isinstance(one, paddle.Tensor) else one for one in flat]
        return tuple(paddle.utils.pack_sequence_as(list(inputs), made))

    with isolation.again(), paddle.no_grad():
        if is_layer:
            vars(model)["forward"] = own
        run = model if is_layer else own
        eager: list[tuple[list[OpRun], Arrays]] = []
        for _ in range(CALLS):
            ops, result = eager_ops(partial(run, *copies()))
            eager.append((ops, _arrays(paddle, [result])))
    with own_cache(), isolation.again(), paddle.no_grad():
        try:
            concrete = _program(paddle, forward, own, inputs, specification, model)
        except Exception as error:  # noqa: BLE001  (an answer)
            told = described(error).strip().splitlines()[-1]
            raise Unrepeatable(say("export.compare.refused", said=told)) from None
        static = StaticRun(paddle, concrete)
        programs = [static.run(_arrays(paddle, list(copies()))) for _ in range(CALLS)]
    runs = zip(eager, programs, strict=True)
    for call, ((ops, expected), (others, outputs)) in enumerate(runs, 1):
        found = pairs(ops, others)
        ends = compared("", expected, outputs)
        first = first_difference(found)
        if first is None and len(outputs) == len(expected):
            first = _differing_end(found, ends)
        # If the final results agree, an earlier difference is between ops that do not correspond.
        if not ends.differs and any(output.dtype.kind in "fc" for output in outputs):
            first = None
        if first is not None or call == CALLS:
            return Compared(found, first, call)
    raise AssertionError


def _arrays(paddle: Any, values: list[Any]) -> Arrays:
    flat = paddle.utils.flatten(values)
    return [np.array(one.numpy()) for one in flat if isinstance(one, paddle.Tensor)]


def _differing_end(found: list[Pair], outputs: StageRun) -> Pair | None:
    """Return the pair to blame if the outputs of the model differ, but no pair of ops does.

    It is the last compiled loop or branch, because the ops inside it are in no pair. Without a loop
    or branch, it is the last pair. If shapes or dtypes differ, it is a last op of one run only.
    """
    if not outputs.differs or not found:
        return None
    if outputs.error:  # shapes or dtypes differ
        return found[-1]._replace(compared=outputs) if None in found[-1][:2] else None
    blocks = [one for one in found if one.static and plain(one.static.name) in ("while", "if")]
    return (blocks or found)[-1]._replace(compared=outputs)


def _program(
    paddle: Any, forward: Any, own: Any, inputs: tuple[Any, ...], spec: Any, model: Any
) -> Any:
    training = getattr(model, "training", getattr(forward, "_training", True))
    if isinstance(forward, DOOR.static_function_kind):
        cache = forward.program_cache
        held = {name: copy(value) for name, value in vars(cache).items()}
        try:
            return DOOR.concrete_program(forward, *inputs, is_train=training)[0]
        finally:
            vars(cache).update(held)
    compiled = paddle.jit.to_static(own, input_spec=spec, full_graph=True, backend=None)
    return DOOR.concrete_program(compiled, *inputs, is_train=training)[0]
