"""What allocates without being an op: copies, and tensors that others hand to the traced code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter_ns
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_lab.capture.memory.storages import storage_address
from paddle_lab.capture.recorder.recorder import Recorder

if TYPE_CHECKING:
    from paddle_lab.capture.limit.kept_ops import KeptOps
    from paddle_lab.capture.tables.row_keys import RecordKeys


class Copy(NamedTuple):
    """A call that copied a tensor; times by ``perf_counter_ns``."""

    start_ns: int
    end_ns: int
    thread: int
    scope: int
    stack: int
    """The recorder's key."""
    phase: int
    tensor: int
    """The row of what was copied; -1 where that was no tensor the trace knows."""


class Arrival(NamedTuple):
    """A tensor that came from elsewhere into the traced code, which asked for it."""

    address: int
    time_ns: int
    """By ``perf_counter_ns``."""
    scope: int
    stack: int
    """The recorder's key."""
    phase: int


class Handovers:
    """The copies and arrivals that one trace has noted.

    Parameters
    ----------
    recorder
        The trace's recorder.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.copies: list[Copy] = []
        self.arrivals: list[Arrival] = []

    def note_copy(self, source: Any, frame: FrameType, start_ns: int, end_ns: int) -> None:
        """Note that ``frame`` has copied ``source``, which allocates and is no op."""
        recorder, state = self._recorder, self._recorder.thread()
        stack = recorder.stacks.take(frame, state.anchor, state.anchor_stack)
        tensor = recorder.tensors.known_key(source)
        self.copies.append(
            Copy(start_ns, end_ns, state.number, state.scope, stack, state.phase, tensor)
        )

    def note_arrivals(self, tensors: Iterable[Any], frame: FrameType) -> None:
        """Note that ``frame`` was handed tensors that others have made."""
        state, time_ns = self._recorder.thread(), perf_counter_ns()
        stack = self._recorder.stacks.take(frame, state.anchor, state.anchor_stack)
        for tensor in tensors:
            address = storage_address(tensor)
            if address:
                self.arrivals.append(Arrival(address, time_ns, state.scope, stack, state.phase))

    def forget(self, kept: KeptOps) -> None:
        """Forget those that came with ops that the trace does not keep."""
        is_kept = kept.has_time(copy.start_ns for copy in self.copies)
        self.copies = [copy for copy, keeps in zip(self.copies, is_kept, strict=False) if keeps]
        is_kept = kept.has_time(arrival.time_ns for arrival in self.arrivals)
        self.arrivals = [one for one, keeps in zip(self.arrivals, is_kept, strict=False) if keeps]

    def name_rows(self, keys: RecordKeys, stack_row: Callable[[int], int]) -> None:
        """Name tensors, scopes and stacks by their rows of the record from now on."""
        self.copies = [
            copy._replace(
                tensor=keys.tensors.row(copy.tensor),
                scope=keys.scopes.row(copy.scope),
                stack=stack_row(copy.stack),
            )
            for copy in self.copies
        ]
        self.arrivals = [
            one._replace(scope=keys.scopes.row(one.scope), stack=stack_row(one.stack))
            for one in self.arrivals
        ]
