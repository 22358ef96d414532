"""The ops of an eager run with their lines and outputs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from traceback import walk_stack
from typing import Any, NamedTuple

import numpy as np

from paddle_lab.capture.backward_graph.graphs import flat
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.collector import Collector
from paddle_lab.capture.export.causes import user_place
from paddle_lab.capture.export.guarded_source import Place
from paddle_lab.capture.export.stages import Arrays
from paddle_lab.capture.session import CaptureSession
from paddle_lab.trace.schema import ROLES


class OpRun(NamedTuple):
    """One op that has run."""

    name: str
    place: Place
    outputs: Arrays
    """A copy of the first output, or of all outputs if they are a list as those of ``split``."""
    kind: str = ""
    """The name of the op that makes this output in a program, if the name differs."""
    reads: tuple[int, ...] = ()
    """Numbers of the values that it reads; those of a program and of an eager run are distinct."""
    makes: tuple[int, ...] = ()
    """Numbers of the values that it makes."""
    is_unused: bool = False
    """Whether an op of a program has an output that nothing reads."""


class Outputs(Collector):
    """Copies the outputs of every op.

    Parameters
    ----------
    recorder
        The recorder whose ops' outputs are copied.
    """

    def __init__(self, recorder: Any) -> None:
        self._recorder = recorder
        self.noted: list[tuple[Place, Arrays]] = []

    def open(self) -> None:
        """Copy the outputs of ops from now on."""
        self._recorder.on_op = self._on_op

    def close(self) -> None:
        """Stop copying."""
        self._recorder.on_op = None

    def _on_op(self, _op: int, result: Any) -> None:
        frames = [(one.f_code.co_filename, line) for one, line in walk_stack(sys._getframe(1))]
        count = None if isinstance(result, list) else 1
        tensors = [one for one in flat(result) if isinstance(one, self._recorder.tensor_type)]
        self.noted.append((user_place(frames[::-1]) or Place("", 0), _copied(tensors[:count])))


def _copied(tensors: list[Any]) -> Arrays:
    if not all(DOOR.is_initialized(one) and DOOR.is_dense(one) for one in tensors):
        return []
    # Call Paddle's original method, because a hook would record a read by the user's code.
    numpy = [getattr(type(one).numpy, "__wrapped__", type(one).numpy) for one in tensors]
    return [np.array(read(one.detach())) for read, one in zip(numpy, tensors, strict=True)]


def eager_ops(run: Callable[[], Any]) -> tuple[list[OpRun], Any]:
    """Run code eagerly. Return the ops that it ran, in order, and what it returned."""
    session = CaptureSession(anchor=sys._getframe())
    outputs = session.collect(Outputs)
    session.open()
    try:
        result = run()
    except BaseException:
        session.abort()
        raise
    record = session.close()
    names = [record.text(name) for name in record.ops["name"].tolist()]
    reads, makes = [list[int]() for _ in names], [list[int]() for _ in names]
    uses = [record.uses[name].tolist() for name in ("op", "tensor", "role")]
    for op, tensor, role in zip(*uses, strict=True):
        (reads if ROLES[role] == "input" else makes)[op].append(~tensor)
    found: list[OpRun] = []
    for name, read, made, (place, copies) in zip(names, reads, makes, outputs.noted, strict=False):
        kind = "" if name != "linear" else "matmul" if len(read) < 3 else "add"
        if kind == "add":  # for a ``linear`` op with a bias, a program has two ops
            found.append(OpRun(name, place, [], "matmul"))
        found.append(OpRun(name, place, copies, kind, tuple(read), tuple(made)))
    return found, result
