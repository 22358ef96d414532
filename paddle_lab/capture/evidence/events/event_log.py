"""Events that are not ops, such as reading a value into Python or switching gradients off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.recorder.thread_state import ThreadState
from paddle_lab.capture.rows.cells import NO_KEY
from paddle_lab.capture.rows.counter import Counter
from paddle_lab.capture.stacks.frames import FrameAssembler
from paddle_lab.capture.stacks.stack_pool import Location, StackPool
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.schema import EVENT_KINDS
from paddle_lab.trace.table import StringPool, TableBuilder
from paddle_lab.words import say


class Event(NamedTuple):
    """A row of ``events``. The stack and the op count come from the recorder."""

    kind: int
    tensor: int
    scope: int
    stack: int
    op_keys: int
    """How many ops had a key when the event happened."""
    thread: int
    detail: str


class EventLog:
    """The events of a trace, in order.

    Parameters
    ----------
    thread
        Returns the recorder's state of the calling thread.
    stacks
        The pool for the stacks of events.
    next_op
        The counter of ops.
    """

    def __init__(
        self, thread: Callable[[], ThreadState], stacks: StackPool, next_op: Counter
    ) -> None:
        self._thread, self._stacks, self._next_op = thread, stacks, next_op
        self.events: list[Event] = []
        self.calls_of_lines: dict[tuple[str, int, int], int] = {}
        """Counts the calls of each function from each line, for functions noted as events."""
        self.states: dict[int, Any] = {}
        """The dicts that ``state_dict()`` returned, as weak references, by number."""
        self.missed_calls = ""
        """A notice, if a call could not be noted."""
        self._numbers: dict[int, int] = {}

    def number_of(self, one: object) -> int:
        """Return the number of an object. Later objects at the same address get the same one."""
        return self._numbers.setdefault(id(one), len(self._numbers))

    def miss_call(self, name: str, fault: Exception) -> None:
        """Store a notice about the first call that could not be recorded."""
        self.missed_calls = self.missed_calls or say(
            "notices.calls.missed", function=name, fault=described(fault)
        )

    def note(
        self,
        kind: str,
        frame: FrameType | None,
        *,
        tensor: int = NO_KEY,
        detail: str = "",
        places: Sequence[Location] = (),
    ) -> None:
        """Record an event.

        Parameters
        ----------
        kind
            One of :data:`paddle_lab.trace.schema.EVENT_KINDS`.
        frame
            The innermost frame of Paddle or of the user: the hook's caller.
        tensor
            Row of the tensor's current value.
        detail
            The called function, or other details, as text.
        places
            Where it happened, innermost first, if the code that ran has no Python frame.
        """
        state = self._thread()
        stack = self._stacks.take(frame, state.anchor, state.anchor_stack)
        for code, offset in reversed(places):
            stack = self._stacks.put(code, offset, stack)
        self.add(kind, stack, detail, tensor=tensor)

    def add(self, kind: str, stack: int, detail: str, *, tensor: int = NO_KEY) -> None:
        """Record an event with a stack that is already in the pool."""
        state = self._thread()
        self.events.append(
            Event(
                EVENT_KINDS.index(kind),
                tensor,
                state.scope,
                stack,
                self._next_op.next,
                state.number,
                detail,
            )
        )

    def add_rows(
        self,
        builder: TableBuilder,
        strings: StringPool,
        frames: FrameAssembler,
        keys: RecordKeys,
    ) -> None:
        """Fill the record's table of events."""
        noted = np.array([event[:-1] for event in self.events], np.int64).reshape(-1, 6)
        kind, tensor, scope, stack, op_keys, thread = noted.T
        rows = (
            kind,
            keys.tensors.rows(tensor),
            keys.scopes.rows(scope),
            frames.stacks(stack),
            keys.ops.counts_before(op_keys),
            thread,
            np.array(strings.codes(event.detail for event in self.events), np.int64),
        )
        builder.append_cells(np.stack(rows, axis=1).ravel().tolist())
