"""One training step, observed at the same time by a trace and by Paddle's own tools."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import paddle_lab
from tests.models import Build, Result
from tests.oracles import (
    ApiLog,
    Bindings,
    Call,
    DumpedFrame,
    GradWalk,
    LoggedOp,
    StackDump,
    api_log,
    explain,
    stack_dump,
    walk_backward,
)

if TYPE_CHECKING:
    import paddle

_PRODUCT = f"{Path(paddle_lab.__file__).parent}/"


@dataclass
class Observation:
    """A trace of one step, Paddle's own reports about the same step, and what the trace changed."""

    trace: paddle_lab.Trace
    log: ApiLog
    dump: StackDump
    walks: list[GradWalk]
    """One a backward pass, from the tensors it started at, right before it."""
    changed_bindings: list[str]

    def calls(self) -> list[Call]:
        """Return the trace's ops as the oracle wants them."""
        return [Call(op.name, len(op.inputs), logs=not op.is_pylayer) for op in self.trace.ops]

    def logged_ops(self) -> list[list[LoggedOp]]:
        """Return, for each op of the trace, the ops that Paddle logged for it.

        They are matched by name and by where they were called; what two slices in one line logged
        (one of the whole tensor logs nothing) is told by its shape.
        """
        logged = self.log.python_ops
        lines = [[frame.line for frame in op.stack[:2]] for op in self.trace.ops]
        shapes = [[list(output.shape) for output in op.outputs] for op in self.trace.ops]

        def may_be(call: int, place: int) -> bool:
            op = logged[place]
            if op.name == "slice" and shapes[call] and op.output_shapes:
                (shape,), (logged_shape,) = shapes[call], op.output_shapes
                if len(shape) == len(logged_shape) and shape != logged_shape:
                    return False
            dumped = self.dumped_stack(op)
            return not dumped or [frame.line for frame in dumped[:2]] == lines[call]

        ranges = explain(self.calls(), [op.name for op in logged], may_be=may_be)
        return [[logged[place] for place in places] for places in ranges]

    def dumped_stack(self, op: LoggedOp) -> list[DumpedFrame]:
        """Return Paddle's stack of an op, innermost first, without frames of the trace itself.

        Empty where Paddle keeps none: for ops that only promoted types, and for silent ones.
        """
        stack = self.dump.op_stacks.get(op.unique_name, [])
        frames = [frame for frame in reversed(stack) if not frame.file.startswith(_PRODUCT)]
        # Where a hook on saved tensors runs inside the op, Paddle's stack starts in the hook.
        hooks = [place for place, frame in enumerate(frames) if frame.function == "inner_pack"]
        return frames[hooks[-1] + 1 :] if hooks else frames


def observe(build: Build, folder: Path) -> Observation:
    """Run one step of a model under a trace and under Paddle's own tools."""
    step = build()
    walks: list[GradWalk] = []
    bindings = Bindings()
    with api_log() as log, stack_dump(folder) as dump, paddle_lab.trace() as trace:
        step(lambda roots: walks.append(walk_backward(roots)))
    return Observation(trace, log, dump, walks, bindings.changed())


def digest(result: Result) -> dict[str, str]:
    """Return the MD5 of the loss and of every gradient, bit for bit."""
    loss, gradients = result
    return {name: _md5(tensor) for name, tensor in {"loss": loss, **gradients}.items()}


def _md5(tensor: paddle.Tensor) -> str:
    if tensor.is_selected_rows():
        values = np.asarray(tensor.get_selected_rows().get_tensor())
    else:
        values = tensor.numpy()
    return hashlib.md5(values.tobytes()).hexdigest()
