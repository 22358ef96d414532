"""What a trace with memory records beside ops: allocator events, counters, ends of steps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns, sleep
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paddle_lab.capture.counter import NEVER
from paddle_lab.capture.faults import attempt
from paddle_lab.capture.limit.notice import blocks_notice
from paddle_lab.capture.memory.allocator_log import (
    ALLOCATOR_LOG,
    BackwardSpan,
    Segment,
)
from paddle_lab.capture.memory.blocks import NO_BLOCK, blocks_at
from paddle_lab.capture.memory.counters import device_counts
from paddle_lab.capture.memory.events import AllocatorEvents, read_early, read_segments
from paddle_lab.capture.memory.held_events import HeldEvents
from paddle_lab.capture.memory.highs import Interval
from paddle_lab.capture.memory.history import MemoryHistory
from paddle_lab.capture.memory.storages import Storage, StorageNotes, storage_address
from paddle_lab.capture.recorder import Recorder
from paddle_lab.trace.limit import ALLOCATIONS_PER_OP, Limit
from paddle_lab.trace.memory_notices import (
    DEVICES_ALONE,
    NO_PROFILER,
    STEPPED_ASIDE,
    STOPPED_AT_LIMIT,
)

if TYPE_CHECKING:
    from paddle_lab.capture.evidence.collector import Forgotten
    from paddle_lab.capture.limit.trimming import KeptOps
    from paddle_lab.capture.row_keys import RecordKeys

MOST_SETTLE_OPS = 20_000
_SETTLE_EVENTS = 200_000
"""So many events are read at once, as far as can be told before."""
_LEAST_SURPLUS = 1024
"""Forgetting has a cost of its own, which so many blocks share at least."""
# Other threads are taken to have ended when the counter stands still for so many looks.
_LOOK_S, _STILL_LOOKS, _MOST_LOOKS = 2e-4, 4, 40


@dataclass
class Reading:
    """Paddle's own counters of one place at one moment."""

    time_ns: int
    place: str
    allocated_bytes: int
    reserved_bytes: int


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


@dataclass(eq=False)
class MemoryCapture:
    """The memory side of one trace.

    Parameters
    ----------
    paddle
        The paddle module.
    recorder
        The trace's recorder.
    limit
        How many ops are kept, and so how many allocations.
    windows
        Tells the times whose allocations are kept before all others; ``None`` for the newest.
    """

    paddle: Any
    recorder: Recorder
    limit: Limit = Limit(ops=None)  # noqa: RUF009  (frozen)
    windows: Callable[[], Sequence[Interval] | None] = lambda: None
    held: HeldEvents = field(init=False)
    """What was read so far."""
    segments: list[Segment] = field(default_factory=list)
    """What is still to be read."""
    readings: list[Reading] = field(default_factory=list)
    """Counters when the trace began and when it ended, each place twice."""
    notices: list[str] = field(default_factory=list)
    backward_spans: list[tuple[int, BackwardSpan]] = field(default_factory=list)
    """The recorder's keys of its backward calls, and when and where they ran."""
    steps: list[tuple[int, int]] = field(default_factory=list)
    """Calls of ``paddle_lab.step()``: when (since the trace began), and in which scope."""
    optimizer_steps: list[tuple[int, int]] = field(default_factory=list)
    """When optimizers' steps ended, likewise: those that a record keeps are told by its ops."""
    copies: list[Copy] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    met: list[Storage] = field(init=False)
    """Storages of tensors that no op of the trace made, when they were met."""
    living: list[Storage] = field(default_factory=list)
    """Storages of the tensors that were alive when the trace ended."""
    living_gradients: list[Storage] = field(default_factory=list)
    """Storages of the gradients that living leaves held by then."""
    buffers: list[int] = field(default_factory=list)
    """Tensors that layers held as buffers by then."""
    thread_numbers: dict[int, int] = field(default_factory=dict)
    """The operating system's thread ids to the recorder's numbers."""
    reused_numbers: set[int] = field(default_factory=set)
    """Those of threads that have ended: Python may have given their identity to later ones."""
    python_threads: set[int] = field(default_factory=set)
    """Threads that ran Python when the trace began or ended, by the operating system's ids."""
    history: AllocatorEvents | None = None
    """Events from elsewhere than the log, where that could not record."""
    _reader: int | None = None
    _history: MemoryHistory | None = None
    _storages: StorageNotes = field(init=False)

    _is_stopped: bool = False
    _most_held: int = 0
    """How many blocks may be held before some are forgotten."""

    def __post_init__(self) -> None:
        self._storages = StorageNotes(self.recorder.tensors)
        self.met = self._storages.met
        self.held = HeldEvents()
        self._most_held = 2 * self.most_blocks + _LEAST_SURPLUS

    @property
    def start_ns(self) -> int:
        """When the trace began, on the clock of ``perf_counter_ns``."""
        return self.recorder.start_ns

    @property
    def most_blocks(self) -> int:
        """How many blocks are kept."""
        return NEVER if self.limit.ops is None else self.limit.ops * ALLOCATIONS_PER_OP

    def open(self) -> None:
        """Start to record."""
        self._note_threads()
        self._storages.open()
        OPEN_CAPTURES.append(self)
        self._reader = ALLOCATOR_LOG.open(self.paddle)
        self._read_counters()
        if self._reader is None:
            self._history = MemoryHistory.open(self.paddle)
            self.notices.append(NO_PROFILER if self._history is None else DEVICES_ALONE)
            if self._history is None:
                self._storages.close()  # there will be no blocks for what it notes

    def close(self) -> None:
        """Stop recording and keep what there is; doing so twice does no harm."""
        if self._is_stopped:
            self._is_stopped = False
            self._read_counters()
        self._storages.close()
        if self in OPEN_CAPTURES:
            OPEN_CAPTURES.remove(self)
        if ALLOCATOR_LOG.keeps_grad_nodes:
            self._let_others_end()
        if self._history is not None:
            history, self._history = self._history, None
            self.history = history.close()
        elif self._reader is None:
            return
        self._read_counters()
        self._note_threads()
        self._number_threads()
        reader, self._reader = self._reader, None
        if reader is not None and ALLOCATOR_LOG.lost_ns >= self.start_ns:
            seconds = (ALLOCATOR_LOG.lost_ns - self.start_ns) / 1e9
            self.notices.append(STEPPED_ASIDE.format(seconds=seconds))
        if reader is not None:
            waiting = ALLOCATOR_LOG.close(reader)
            self.segments = waiting.segments
            self.backward_spans += waiting.spans_of(self.recorder)
        self.living = self._storages.living()
        self.buffers = self._storages.living_buffers(self.recorder.layers)
        self.living_gradients = self._storages.living_gradients()

    def stop(self) -> None:
        """Record nothing more; what Paddle's counters say in the end is still read."""
        if self._reader is not None or self._history is not None:
            seconds = (perf_counter_ns() - self.start_ns) / 1e9
            self.close()
            self._is_stopped = True
            self.notices.append(STOPPED_AT_LIMIT.format(seconds=seconds))

    def forget(self, kept: KeptOps, gone: Forgotten) -> None:
        """Forget what the trace met and copied with ops that it does not keep; no allocation."""
        self.met[:] = [storage for storage in self.met if storage.tensor not in gone.tensors]
        is_kept = kept.has_time(copy.start_ns for copy in self.copies)
        self.copies[:] = [copy for copy, keeps in zip(self.copies, is_kept, strict=False) if keeps]
        is_kept = kept.has_time(arrival.time_ns for arrival in self.arrivals)
        self.arrivals[:] = [
            one for one, keeps in zip(self.arrivals, is_kept, strict=False) if keeps
        ]

    def settle(self, ops: int) -> int:
        """Read what was recorded so far, which takes less room then; forget what is too much.

        Parameters
        ----------
        ops
            How many have run since the last call.

        Returns
        -------
        int
            After how many ops this is worth its cost again.
        """
        if self._reader is None:
            return MOST_SETTLE_OPS
        waiting = ALLOCATOR_LOG.take(self._reader)
        has_devices = self.recorder.tensors.reads_place
        read_early(waiting.segments, has_devices=has_devices)
        tables = [segment.part.table for segment in waiting.segments if segment.part]
        self.held.add(*read_segments(waiting.segments, has_devices=has_devices), waiting.segments)
        self.backward_spans += waiting.spans_of(self.recorder)
        if self.held.block_count > self._most_held:
            self._forget_blocks()
            self._most_held = self.held.block_count + self.most_blocks + _LEAST_SURPLUS
        fresh = sum(map(len, tables)) or 1
        return max(1, min(MOST_SETTLE_OPS, ops * _SETTLE_EVENTS // fresh))

    def keep_within_limit(self) -> str:
        """Forget the blocks that the trace does not keep, now that all are held.

        Returns
        -------
        str
            What there is to say of it; empty where all blocks are kept.
        """
        if self.held.block_count > self.most_blocks:
            self._forget_blocks()
        return blocks_notice(self.limit, kept=self.held.block_count, forgotten=self.held.forgotten)

    def _forget_blocks(self) -> None:
        left_out = self.held.forget(self.most_blocks, self.windows())
        blocks, is_gone = left_out
        at = blocks_at(
            blocks,
            np.array([storage.address for storage in self.met], np.int64),
            np.array([storage.time_ns for storage in self.met], np.int64),
        )
        # Without its block a tensor would seem to be older than the trace.
        self.met[:] = [
            storage
            for storage, block in zip(self.met, at.tolist(), strict=True)
            if block == NO_BLOCK or not is_gone[block]
        ]
        self.backward_spans[:] = self.held.forget_runs(self.backward_spans)

    def name_rows(self, keys: RecordKeys, stack_row: Callable[[int], int]) -> None:
        """Name tensors, scopes and stacks by their rows of the record from now on.

        Storages of tensors that have none are dropped: allocator events tell of their blocks, too.
        """
        for storages in (self.met, self.living, self.living_gradients):
            rows = keys.tensors.rows(np.array([one.tensor for one in storages], np.int64))
            pairs = zip(storages, rows.tolist(), strict=True)
            storages[:] = [Storage(row, *one[1:]) for one, row in pairs if row >= 0]
        buffers = keys.tensors.rows(np.array(self.buffers, np.int64))
        self.buffers = buffers[buffers >= 0].tolist()
        self.copies[:] = [
            copy._replace(
                tensor=keys.tensors.row(copy.tensor),
                scope=keys.scopes.row(copy.scope),
                stack=stack_row(copy.stack),
            )
            for copy in self.copies
        ]
        self.arrivals[:] = [
            one._replace(scope=keys.scopes.row(one.scope), stack=stack_row(one.stack))
            for one in self.arrivals
        ]
        for steps in (self.steps, self.optimizer_steps):
            steps[:] = [(time_ns, keys.scopes.row(scope)) for time_ns, scope in steps]

    def mark_step(self, time_ns: int) -> None:
        """Note that a training step has ended now, by ``perf_counter_ns``."""
        self.steps.append((time_ns - self.start_ns, self.recorder.thread().scope))

    def note_copy(self, source: Any, frame: FrameType, start_ns: int, end_ns: int) -> None:
        """Note that ``frame`` has copied ``source``, which allocates and is no op."""
        state = self.recorder.thread()
        stack = self.recorder.stacks.take(frame, state.anchor, state.anchor_stack)
        tensor = self.recorder.tensors.known_key(source)
        self.copies.append(
            Copy(start_ns, end_ns, state.number, state.scope, stack, state.phase, tensor)
        )

    def note_arrivals(self, tensors: Iterable[Any], frame: FrameType) -> None:
        """Note that ``frame`` was handed tensors that others have made."""
        state, time_ns = self.recorder.thread(), perf_counter_ns()
        stack = self.recorder.stacks.take(frame, state.anchor, state.anchor_stack)
        for tensor in tensors:
            address = storage_address(tensor)
            if address:
                self.arrivals.append(Arrival(address, time_ns, state.scope, stack, state.phase))

    def _note_threads(self) -> None:
        self.python_threads |= {one.native_id or -1 for one in threading.enumerate()}

    def _number_threads(self) -> None:
        states, alive = self.recorder.threads, threading.enumerate()
        living = {thread.native_id for thread in alive}
        self.thread_numbers |= self.recorder.native_threads
        self.reused_numbers = {
            number for native, number in self.thread_numbers.items() if native not in living
        }
        self.thread_numbers |= {
            thread.native_id: states[thread.ident].number
            for thread in alive
            if thread.ident in states and thread.native_id is not None
        }

    def _let_others_end(self) -> None:
        """Wait a little for what other threads are about to free, such as static programs'."""
        core, seen = self.paddle.base.core, []
        for _ in range(_MOST_LOOKS):
            seen.append(core.host_memory_stat_current_value("Allocated", 0))
            if len(seen) >= _STILL_LOOKS and len(set(seen[-_STILL_LOOKS:])) == 1:
                break
            sleep(_LOOK_S)

    def _read_counters(self) -> None:
        core = self.paddle.base.core
        time_ns = perf_counter_ns()
        self.readings.append(
            Reading(
                time_ns,
                "cpu",
                core.host_memory_stat_current_value("Allocated", 0),
                core.host_memory_stat_current_value("Reserved", 0),
            )
        )
        try:
            counts = device_counts(core, self.paddle)
        except OSError:  # a driver that does not fit this Paddle: nothing is allocated there
            counts = {}
        for kind, count in counts.items():
            for device in range(count):
                self.readings.append(
                    Reading(
                        time_ns,
                        f"{kind}:{device}",
                        core.device_memory_stat_current_value("Allocated", device),
                        core.device_memory_stat_current_value("Reserved", device),
                    )
                )


OPEN_CAPTURES: list[MemoryCapture] = []
"""Those of the traces that are running, outermost first."""


def note_copy(source: Any, frame: FrameType, start_ns: int, end_ns: int) -> None:
    """Let all that are running know that ``frame`` has copied a tensor, or what becomes one."""
    for capture in OPEN_CAPTURES:
        attempt(capture.recorder, capture.note_copy, source, frame, start_ns, end_ns)


def note_arrivals(tensors: Iterable[Any], frame: FrameType) -> None:
    """Let all that are running know that ``frame`` was handed tensors that others have made."""
    for capture in OPEN_CAPTURES:
        attempt(capture.recorder, capture.note_arrivals, tensors, frame)
