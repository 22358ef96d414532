"""Checks an export: what prevents it, then its stages, and then dimensions that are fixed."""

from __future__ import annotations

import inspect
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import zip_longest
from typing import Any, NamedTuple

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.export import guards
from paddle_lab.capture.export.aside import Tell, can_fork, run_aside
from paddle_lab.capture.export.causes import DIFFERENT, Fault, fault_of
from paddle_lab.capture.export.compare import compare_here
from paddle_lab.capture.export.guarded_source import GuardedTranslation, Place
from paddle_lab.capture.export.inputs import Inputs, stand_in
from paddle_lab.capture.export.isolation import Isolation, own_cache, plain_python, temporary_place
from paddle_lab.capture.export.op_pairs import plain
from paddle_lab.capture.export.probe import Probe
from paddle_lab.capture.export.stages import (
    EAGER,
    EVALUATED,
    LOADED,
    NAMES,
    STATIC,
    StageRun,
    Stages,
    compared,
)
from paddle_lab.capture.hooks.hooks import HOOKS
from paddle_lab.capture.rerun.reach import Unrepeatable
from paddle_lab.words import listing, say

_SIZES = (2, 3, 4, 8, 1, 16, 32)
"""Sizes that are tried for open dimensions, until the model runs with one."""

Again = Callable[[], AbstractContextManager[None]]


class Checked(NamedTuple):
    """What the check of an export has found."""

    blockers: list[Fault]
    stages: list[StageRun]
    frozen: list[tuple[str, int, str]]
    """Each has the name of an input, an axis, and what happened when the axis had another size."""
    is_random: bool = False
    is_evaluated: bool = False


def check(layer: Any, specification: Sequence[Any]) -> Checked:
    """Check the export of a layer. Afterwards everything is as before.

    Raises
    ------
    PaddleUnavailableError
        If there is no PaddlePaddle, or one older than 3.3.
    TypeError
        If ``layer`` is no layer, or the inputs are no list or tuple.
    Unrepeatable
        If the layer's state cannot be copied.
    """
    paddle = require_paddle()
    lacking = DOOR.lacking("ops", "export")
    if lacking:
        raise Unrepeatable(say("notices.unchecked.door", names=listing(lacking)))
    if not isinstance(layer, paddle.nn.Layer):
        raise TypeError(say("export.no_layer", name=type(layer).__name__))
    if not isinstance(specification, (list, tuple)):
        raise TypeError(say("export.no_specification", name=type(specification).__name__))
    with temporary_place() as path:
        found = Checked([], [], [])
        told, status = run_aside(
            paddle, lambda tell: _check(paddle, layer, specification, path, tell)
        )
    for one in told:
        if isinstance(one, StageRun):
            found.stages.append(one)
        else:
            found = found._replace(**one)
    for name in NAMES[len(found.stages) :]:
        is_dead = status and not found.blockers
        error = say("export.ended", signal=signal.Signals(status).name) if is_dead else ""
        found.stages.append(StageRun(name, has_run=bool(error), error=error))
        status = 0
    return found


def _check(paddle: Any, layer: Any, specification: Sequence[Any], path: str, tell: Tell) -> None:
    """Send each stage, and the fields of :class:`Checked`."""
    inputs = Inputs(paddle, specification)
    with HOOKS.suspended():
        state = Isolation(paddle, [layer, *specification])
        stages = Stages(paddle, layer, specification, inputs, path, state.again)
        size, other = _working_sizes(stages, inputs)
        blockers, misread = _blockers(paddle, layer, stages, inputs, state.again, (size, other))
        if blockers:
            tell({"blockers": blockers})
            return
        with own_cache():
            runs = stages.run(inputs.make(size), tell)
            tell({"is_random": stages.is_random, "is_evaluated": stages.is_evaluated})
            if any(run.name == STATIC and run.differs for run in runs):
                causes = misread or _other_ops(layer, specification, inputs.make(size))
                tell({"blockers": causes})
            is_alike = all(run.has_run and not run.error and not run.differs for run in runs[:4])
            if is_alike and other:
                tell({"frozen": _frozen(stages, inputs, size, other)})


def _other_ops(layer: Any, specification: Sequence[Any], inputs: list[Any]) -> list[Fault]:
    """Return the first line at which the compiled model computes something different from eager."""
    try:
        first = compare_here(layer, tuple(inputs), specification).first
    except Exception:  # noqa: BLE001  (the stages tell that it differs)
        return []
    op = first and (first.eager or first.static)
    return [Fault(DIFFERENT, *op.place, plain(op.name))] if op else []


def _working_sizes(stages: Stages, inputs: Inputs) -> tuple[int, int]:
    """Return two sizes with which the model runs eagerly; the second is 0 if there is only one."""
    found: list[int] = []
    for size in _SIZES:
        try:
            stages.outputs(EAGER, inputs.make(size))
        except Exception:  # noqa: BLE001, S112  (the model does not take this size)
            continue
        found.append(size)
        if len(found) == 2 or not inputs.dynamic:
            break
    size, other, *_ = [*found, 0, 0]
    return size or _SIZES[0], other


def _blockers(
    paddle: Any, layer: Any, stages: Stages, inputs: Inputs, again: Again, sizes: tuple[int, int]
) -> tuple[list[Fault], list[Fault]]:
    """Return what blocks the export; and if nothing does, where NumPy reads tensors."""
    forward = DOOR.undecorated(layer.forward)[1]
    begin = _beginning(forward)
    if not can_fork(paddle):
        return _first_blocker(stages, again, begin), []
    cache = type(DOOR.function_cache)()
    translation = GuardedTranslation(cache._dygraph_to_static.get_static_ast)
    with own_cache(translation):
        notes = [_noted(forward, layer, inputs.make(size), again) for size in sizes if size]
        values, others = notes[0], notes[-1]
        stand_ins = {
            guard: [
                stand_in(paddle, value, other)
                for value, other in zip_longest(noted, others.get(guard, ())[: len(noted)])
            ]
            for guard, noted in values.items()
        }
        with again():
            probe = Probe(stages.export, stand_ins, translation)
            found = probe.run()
    placed = [fault if fault.line else fault._replace(file=begin.file, line=begin.line)
              for fault in found]  # fmt: skip
    return placed, probe.misread


def _noted(forward: Any, layer: Any, inputs: list[Any], again: Again) -> dict[int, list[Any]]:
    """Run the translated code eagerly. Return the values at the guards that ran."""
    eager = guards.Eager()
    with again(), plain_python():
        guards.run = eager
        try:
            DOOR.translated(forward)(layer, *inputs)
        except Exception:  # noqa: BLE001, S110  (what was noted until then still helps)
            pass
        finally:
            guards.run = guards.PLAIN
    return dict(eager.values)


def _first_blocker(stages: Stages, again: Again, begin: Place) -> list[Fault]:
    try:
        with own_cache(), again():
            stages.export()
    except Exception as error:  # noqa: BLE001
        return [fault_of(error, begin)]
    return []


def _beginning(forward: Any) -> Place:
    code = getattr(inspect.unwrap(forward), "__code__", None)
    return Place(code.co_filename, code.co_firstlineno) if code else Place("", 0)


def _frozen(stages: Stages, inputs: Inputs, size: int, other: int) -> list[tuple[str, int, str]]:
    """Return the open dimensions in which another size works eagerly, but not after the export."""
    said = _fault_with(stages, inputs.make(other))
    if not said:
        return []
    alone = {
        (index, axis): _fault_with(stages, inputs.make(size, {(index, axis): other}))
        for index, axis in inputs.dynamic
    }
    guilty = {place: told for place, told in alone.items() if told} or dict.fromkeys(alone, said)
    return [(inputs.name(index), axis, told) for (index, axis), told in guilty.items()]


def _fault_with(stages: Stages, inputs: list[Any]) -> str:
    """Return the exported model's error with inputs that work eagerly; empty without error."""
    try:
        expected = stages.outputs(EVALUATED if stages.is_evaluated else EAGER, inputs)
    except Exception:  # noqa: BLE001
        return ""
    try:
        stage = compared(LOADED, expected, stages.outputs(LOADED, inputs))
    except Exception as error:  # noqa: BLE001
        return str(error).strip().splitlines()[-1]
    if stage.error:
        return stage.error
    return f"{stage.max_abs:.3g}" if stage.differs and not stages.is_random else ""
