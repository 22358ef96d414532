"""What the traced code did besides ops: values that went to Python, gradients switched off."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

from paddle_lab.capture.rows.cells import NO_KEY
from paddle_lab.trace.schema import EVENT_KINDS

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder


class Event(NamedTuple):
    """One row of ``events``, with stack and ops as the recorder counts them."""

    kind: int
    tensor: int
    scope: int
    stack: int
    op_keys: int
    """How many ops had a key when it happened."""
    thread: int
    detail: str


class EventLog:
    """The events of one trace, in order.

    Parameters
    ----------
    recorder
        Whose stacks, scopes and tensors the events name.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.events: list[Event] = []

    def note(
        self,
        kind: str,
        frame: FrameType | None,
        *,
        tensor: int = NO_KEY,
        detail: str = "",
    ) -> None:
        """Note that something happened.

        Parameters
        ----------
        kind
            One of :data:`paddle_lab.trace.schema.EVENT_KINDS`.
        frame
            Paddle's or the user's innermost frame; a hook's own caller.
        tensor
            Row of the tensor's present value.
        detail
            What was called, for people.
        """
        recorder = self._recorder
        state = recorder.thread()
        stack = recorder.stacks.take(frame, state.anchor, state.anchor_stack)
        self.events.append(
            Event(
                EVENT_KINDS.index(kind),
                tensor,
                state.scope,
                stack,
                recorder.next_op.next,
                state.number,
                detail,
            )
        )
