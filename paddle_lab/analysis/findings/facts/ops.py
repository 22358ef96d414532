"""What a record says of ops: name, phase, what they read and made, and the user's line."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property

import numpy as np

from paddle_lab.analysis.findings.facts.columns import Entry, RecordColumns, Rows, rows_by
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.graph.trees import Keys
from paddle_lab.analysis.source.stacks import Frame, stack_frames, stack_of
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import PHASES, ROLES

FORWARD, BACKWARD, OPTIMIZER = range(len(PHASES))
_INPUT, _OUTPUT, _RESULT = (ROLES.index(role) for role in ("input", "output", "result"))


class OpFacts(RecordColumns):
    """Ops by key: the row in ``ops``."""

    def __init__(self, record: Record) -> None:
        super().__init__(record)
        self._places: dict[int, Place] = {}

    @property
    def op_count(self) -> int:
        """How many ops there are."""
        return len(self.record.ops)

    @cached_property
    def op_name(self) -> Callable[[int], str]:
        """Paddle's name of an op."""
        return self.text_entry("ops", "name")

    def ops_named(self, names: Collection[str]) -> Keys:
        """Return the ops that have one of these names, in order."""
        codes = self.codes(names.__contains__)
        return np.flatnonzero(np.isin(self.record.ops["name"], codes)).astype(np.int32)

    def attributes(self, op: int) -> str:
        """Return the arguments of an op's call that were no tensors, as text."""
        return self.record.text(int(self.record.ops["attributes"][op]))

    @cached_property
    def phase(self) -> Entry:
        """Whether an op is :data:`FORWARD`, :data:`BACKWARD` or :data:`OPTIMIZER`."""
        return self.entry("ops", "phase")

    @cached_property
    def stack(self) -> Entry:
        """The stack of an op."""
        return self.entry("ops", "stack")

    @cached_property
    def inputs(self) -> Rows:
        """The tensors that an op read, by slot."""
        return self._used(_INPUT)

    @cached_property
    def input_slots(self) -> Rows:
        """The slots of the tensors that an op read."""
        return self._used(_INPUT, "slot")

    @cached_property
    def outputs(self) -> Rows:
        """The tensors that an op made."""
        return self._used(_OUTPUT)

    @cached_property
    def results(self) -> Rows:
        """The tensors that a PyLayer's own ops handed to its op."""
        return self._used(_RESULT)

    def _used(self, role: int, column: str = "tensor") -> Rows:
        uses = self.record.uses
        is_used = (uses["role"] == role) & (uses["tensor"] >= 0)
        return rows_by(uses["op"][is_used], uses[column][is_used], self.op_count)

    def is_pylayer(self, op: int) -> bool:
        """Tell whether an op is a call of a PyLayer."""
        return bool(self.record.ops["is_pylayer"][op])

    # -- lines of the user's ------------------------------------------------------------------

    def place(self, op: int) -> Place:
        """Return the innermost line of the user's that called an op."""
        return self.place_of_stack(self.stack(op))

    def place_of_stack(self, stack: int) -> Place:
        """Return the innermost line of the user's in a stack."""
        place = self._places.get(stack)
        if place is None:
            frame = int(self._stack_frames[stack]) if stack >= 0 else -1
            place = Place.of(Frame(self.record, frame) if frame >= 0 else None)
            self._places[stack] = place
        return place

    def model_place(self, op: int) -> Place:
        """Return the user's line that called the outermost layer around an op.

        Outside of layers it is :meth:`place`.
        """
        frames = stack_of(self.record, self.stack(op))
        for caller, callee in zip(reversed(frames), reversed(frames[:-1]), strict=False):
            if caller.kind == "user" and callee.kind == "paddle" and _is_layer_call(callee):
                return Place.of(caller)
        return self.place(op)

    @cached_property
    def _stack_frames(self) -> Keys:
        return stack_frames(self.record)


def _is_layer_call(frame: Frame) -> bool:
    return frame.function in ("Layer.__call__", "__call__") and frame.file.endswith("layers.py")
