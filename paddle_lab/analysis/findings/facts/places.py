"""Which line of the user's it was."""

from __future__ import annotations

from functools import cached_property

from paddle_lab.analysis.findings.facts.columns import RecordColumns
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.graph.trees import Keys
from paddle_lab.analysis.source.stacks import Frame, stack_of
from paddle_lab.analysis.source.user_frames import stack_frames
from paddle_lab.trace.record import Record


class PlaceFacts(RecordColumns):
    """Lines of the user's that called ops and backward."""

    def __init__(self, record: Record) -> None:
        super().__init__(record)
        self._places: dict[int, Place] = {}

    def place(self, op: int) -> Place:
        """Return the innermost line of the user's that called an op."""
        return self.place_of_stack(self.column("ops", "stack")[op])

    def place_of_stack(self, stack: int) -> Place:
        """Return the innermost line of the user's in a stack."""
        place = self._places.get(stack)
        if place is None:
            frame = int(self._stack_frames[stack]) if stack >= 0 else -1
            place = Place.of(Frame(self.record, frame) if frame >= 0 else None)
            self._places[stack] = place
        return place

    def place_of_call(self, call: int) -> Place:
        """Return the innermost line of the user's that called backward."""
        return self.place_of_stack(int(self.record.backward_calls["stack"][call]))

    def model_place(self, op: int) -> Place:
        """Return the user's line that called the outermost layer around an op.

        Outside of layers it is :meth:`place`.
        """
        frames = stack_of(self.record, int(self.record.ops["stack"][op]))
        for caller, callee in zip(reversed(frames), reversed(frames[:-1]), strict=False):
            if caller.kind == "user" and callee.kind == "paddle" and _is_layer_call(callee):
                return Place.of(caller)
        return self.place(op)

    @cached_property
    def _stack_frames(self) -> Keys:
        return stack_frames(self.record)


def _is_layer_call(frame: Frame) -> bool:
    return frame.function in ("Layer.__call__", "__call__") and frame.file.endswith("layers.py")
