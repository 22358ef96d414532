"""Allocations outside of ops: copies, and tensors that traced code receives from other code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import compress
from time import perf_counter_ns
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_lab.capture.memory.storages import storage_address
from paddle_lab.capture.recorder.recorder import Recorder

if TYPE_CHECKING:
    from paddle_lab.capture.limit.kept_ops import KeptOps
    from paddle_lab.capture.tables.row_keys import RecordKeys


class Handover(NamedTuple):
    """A call that copied a tensor, or that received a tensor made by other code."""

    start_ns: int
    """By ``perf_counter_ns``."""
    end_ns: int
    thread: int
    address: int
    """The address of the received tensor; 0 for a copy."""
    scope: int
    stack: int
    """The recorder's key."""
    phase: int
    tensor: int
    """The row of the copied tensor; -1 if the trace does not know it."""


class Handovers:
    """The copies and arrivals that one trace has noted.

    Parameters
    ----------
    recorder
        The trace's recorder.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.noted: list[Handover] = []

    def note_copy(self, source: Any, frame: FrameType, start_ns: int, end_ns: int) -> None:
        """Note that ``frame`` has copied ``source``: a copy allocates but is not an op."""
        tensor = self._recorder.tensors.known_key(source)
        self._note(frame, start_ns, end_ns, tensor=tensor)

    def note_arrivals(self, tensors: Iterable[Any], frame: FrameType) -> None:
        """Note that ``frame`` has received tensors that other code made."""
        time_ns = perf_counter_ns()
        for address in filter(None, map(storage_address, tensors)):
            self._note(frame, time_ns, time_ns, address=address)

    def _note(
        self, frame: FrameType, start_ns: int, end_ns: int, *, address: int = 0, tensor: int = -1
    ) -> None:
        state = self._recorder.thread()
        stack = self._recorder.stacks.take(frame, state.anchor, state.anchor_stack)
        place = (state.scope, stack, state.phase)
        self.noted.append(Handover(start_ns, end_ns, state.number, address, *place, tensor))

    def forget(self, kept: KeptOps) -> None:
        """Forget the copies and arrivals at times whose ops the trace does not keep."""
        is_kept = kept.has_time(one.start_ns for one in self.noted)
        self.noted = list(compress(self.noted, is_kept))

    def name_rows(self, keys: RecordKeys, stack_row: Callable[[int], int]) -> None:
        """Use rows of the record, not the recorder's keys, for tensors, scopes and stacks."""
        self.noted = [
            one._replace(
                tensor=keys.tensors.row(one.tensor),
                scope=keys.scopes.row(one.scope),
                stack=stack_row(one.stack),
            )
            for one in self.noted
        ]
