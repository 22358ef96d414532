"""The state of one thread: the current call, and the stack that was already walked."""

from __future__ import annotations

from types import FrameType

from paddle_lab.capture.native import native_twin
from paddle_lab.capture.stacks.stack_pool import NO_STACK
from paddle_lab.trace.schema import PHASES

FORWARD = PHASES.index("forward")
BACKWARD = PHASES.index("backward")
OPTIMIZER = PHASES.index("optimizer")

Saved = tuple[int, int, int, FrameType | None, int]
"""scope, layer, phase, anchor, and the stack at the anchor, all from before a call"""


@native_twin
class ThreadCells:
    """The fields of a :class:`ThreadState`."""

    __slots__ = (
        "anchor",
        "anchor_stack",
        "closed_regions",
        "layer",
        "number",
        "own_ns",
        "phase",
        "pylayers",
        "scope",
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.scope = -1
        self.layer = -1
        self.phase = FORWARD
        self.anchor: FrameType | None = None
        self.anchor_stack = NO_STACK
        self.closed_regions: dict[int, int] = {}
        """Maps the scope of a region that has ended to the enclosing scope."""
        self.own_ns = 0
        """Host time of the trace's own work in this thread so far."""
        self.pylayers: list[int] = []
        """Scopes of the open PyLayer.apply calls, outermost first."""


class ThreadState(ThreadCells):
    """The innermost open scope of one thread and the anchor of its stacks.

    Holding the anchor's frame does not prolong its life: its call is still running, and the frame
    is dropped when the call returns.
    """

    __slots__ = ()

    def save(self) -> Saved:
        """Return the state that must be restored when a scope ends."""
        return self.scope, self.layer, self.phase, self.anchor, self.anchor_stack

    def restore(self, saved: Saved) -> None:
        """Restore the state that :meth:`save` returned."""
        self.scope, self.layer, self.phase, self.anchor, self.anchor_stack = saved
