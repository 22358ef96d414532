"""Which logged op ran inside which, rebuilt from the order of Paddle's messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Place = Literal["python", "backward", "grad node"]


@dataclass(eq=False)
class LoggedOp:
    """One eager op of Paddle's log."""

    name: str
    asked_by: LoggedOp | Place
    """What ran it: Python, another op, a grad node, or the backward pass between grad nodes."""
    unique_name: str = ""
    """``name`` and a running number, as in Paddle's stack dumps; ``""`` where the op only promoted
    types and called itself again, and for ops that Paddle does not log."""
    output_shapes: list[list[int]] = field(default_factory=list)
    """Empty where Paddle does not log them."""
    is_finished: bool = False

    @property
    def by_python(self) -> bool:
        """Whether a Python call asked for it."""
        return self.asked_by == "python"


class Nesting:
    """A stack of running ops and places.

    Some ops never log their end: ``multiply``, and ops that call themselves again after promoting
    types or casting for mixed precision. They are over when their kernel is, or when the op of the
    same name that they called is.
    """

    def __init__(self) -> None:
        self.ops: list[LoggedOp] = []
        self._stack: list[LoggedOp | Place] = ["python"]

    def start_op(self, name: str) -> None:
        """Process ``Running_AD_API``."""
        self._drop_finished()
        op = LoggedOp(name, self._stack[-1])
        self.ops.append(op)
        self._stack.append(op)

    def finish_kernel(self, unique_name: str) -> None:
        """Process ``Finish_C++_API``."""
        for item in reversed(self._stack):
            if not isinstance(item, LoggedOp):
                return
            if unique_name.removeprefix(item.name).isdigit():
                item.unique_name = unique_name
                item.is_finished = True
                return

    def finish_op(self, name: str) -> None:
        """Process ``Finish_AD_API``: everything above the op is over too."""
        self._drop_finished(down_to=name)
        top = self._stack[-1]
        if isinstance(top, LoggedOp) and top.name == name:
            top.is_finished = True
            self._pop_op()

    def note_outputs(self, unique_name: str, shapes: list[list[int]]) -> None:
        """Take the outputs of the op of this unique name, which is still running or just over."""
        for op in reversed(self.ops):
            if op.unique_name == unique_name:
                op.output_shapes = shapes
                return

    def add_silent_op(self, name: str) -> None:
        """Process an op that Paddle does not log."""
        self.start_op(name)
        self._stack.pop()

    def start_backward(self) -> None:
        """Process the start of a backward pass."""
        self._drop_finished()
        self._stack.append("backward")

    def start_grad_node(self) -> None:
        """Process the start of a grad node, which is the end of the previous one."""
        self._unwind("backward", keep=True)
        self._stack.append("grad node")

    def finish_backward(self) -> None:
        """Process the end of a backward pass, orderly or by an exception."""
        self._unwind("backward", keep=False)

    def enter_python(self) -> None:
        """Process a call from a backward pass into Python."""
        self._drop_finished()
        self._stack.append("python")

    def leave_python(self) -> None:
        """Process the end of such a call."""
        self._unwind("python", keep=False)

    def unfinished(self) -> list[str]:
        """Return the names of ops that are still running."""
        self._drop_finished()
        return [item.name for item in self._stack if isinstance(item, LoggedOp)]

    def _pop_op(self) -> None:
        popped, top = self._stack.pop(), self._stack[-1]
        if isinstance(popped, LoggedOp) and isinstance(top, LoggedOp) and popped.name == top.name:
            top.is_finished = True

    def _drop_finished(self, *, down_to: str | None = None) -> None:
        while isinstance(top := self._stack[-1], LoggedOp) and top.is_finished:
            if down_to == top.name:
                return
            self._pop_op()

    def _unwind(self, place: Place, *, keep: bool) -> None:
        if place not in self._stack[1:]:
            return
        while self._stack[-1] != place:
            self._stack.pop()
        if not keep:
            self._stack.pop()
