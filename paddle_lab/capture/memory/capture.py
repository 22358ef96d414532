"""What a trace with memory records besides ops: allocator events, counters, ends of steps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from time import perf_counter_ns
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.limit.notice import blocks_notice
from paddle_lab.capture.memory.counters import Reading, read_places, wait_for_others
from paddle_lab.capture.memory.held.blocks import blocks_at
from paddle_lab.capture.memory.held.familiar_calls import FamiliarCalls
from paddle_lab.capture.memory.held.held_events import HeldEvents
from paddle_lab.capture.memory.held.highs import Interval
from paddle_lab.capture.memory.log.allocator_log import ALLOCATOR_LOG
from paddle_lab.capture.memory.log.reading import read_segments
from paddle_lab.capture.memory.log.segments import KeyedSpan, Waiting
from paddle_lab.capture.memory.storages import Handovers, Storage, StorageNotes
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.rows.counter import NEVER
from paddle_lab.trace.limit import ALLOCATIONS_PER_OP, Limit
from paddle_lab.trace.memory_notices import memory_notice
from paddle_lab.trace.trees import taken

if TYPE_CHECKING:
    from paddle_lab.capture.evidence.collector import Forgotten
    from paddle_lab.capture.limit.kept_ops import KeptOps
    from paddle_lab.capture.tables.row_keys import RecordKeys

MOST_SETTLE_OPS = 20_000
_SETTLE_EVENTS = 40_000
"""About this many events are read at once; those of a short trace are read at its end. Paddle keeps
80 bytes for each event until then, and 500 while it is read. The traced code waits for the reading,
60 ms, and a long wait would be a gap in the timeline."""
_LEAST_SURPLUS = 1024
"""At least this many blocks are forgotten at once, because each removal has a fixed cost."""


class MemoryCapture:
    """The memory side of one trace.

    Parameters
    ----------
    paddle
        The paddle module.
    recorder
        The trace's recorder.
    limit
        How many ops are kept, which also limits the allocations.
    windows
        Returns the times whose allocations have priority; ``None`` keeps the newest.
    """

    feature = "allocations"

    def __init__(
        self,
        paddle: Any,
        recorder: Recorder,
        limit: Limit,
        windows: Callable[[], Sequence[Interval] | None],
    ) -> None:
        self.recorder = recorder
        self.held = HeldEvents()
        """The events that were read so far."""
        self.waiting = Waiting()
        """The recorded segments that have not been read yet."""
        self.readings: list[Reading] = []
        """Counters at the trace's beginning and end: two readings per place."""
        self.notices: list[str] = []
        self.backward_spans: list[KeyedSpan] = []
        """The recorder's keys of backward calls, with the times and threads of these calls."""
        self.steps: list[tuple[int, int]] = []
        """Calls of ``paddle_lab.step()``: time since the trace began, and scope."""
        self.optimizer_steps: list[tuple[int, int]] = []
        """The ends of optimizer steps, in the same form; not needed for a record with all ops."""
        self.handovers = Handovers(recorder)
        self.python_threads: set[int] = set()
        """Ids of the threads that ran Python when the trace began or ended."""
        self.storages = StorageNotes(recorder.tensors)
        self.living: list[Storage] = []
        """Storages of the tensors that were alive when the trace ended."""
        self.living_gradients: list[Storage] = []
        """Storages of the gradients of leaves that were alive when the trace ended."""
        self.buffers: list[int] = []
        """Tensors that were buffers of layers when the trace ended."""
        self._paddle = paddle
        self._limit = limit
        self._windows = windows
        self._reader: Waiting | None = None
        self._familiar = FamiliarCalls(recorder.tensors.rows, recorder.backward.grad_nodes)
        self._is_stopped = False
        self._most_held = 2 * self.most_blocks + _LEAST_SURPLUS
        """How many blocks may be held before some are forgotten."""

    @property
    def start_ns(self) -> int:
        """When the trace began, on the clock of ``perf_counter_ns``."""
        return self.recorder.start_ns

    @property
    def most_blocks(self) -> int:
        """How many blocks may be kept."""
        return NEVER if self._limit.ops is None else self._limit.ops * ALLOCATIONS_PER_OP

    def open(self) -> None:
        """Start to record."""
        self.python_threads |= _python_threads()
        if DOOR.has("storages"):
            self.storages.open()
        OPEN_CAPTURES.append(self)
        self.recorder.familiar_calls = self._familiar
        if DOOR.has("allocations"):
            self._reader = ALLOCATOR_LOG.open(self._paddle)
        self.readings += read_places(self._paddle)
        if self._reader is None and DOOR.has("allocations"):
            self.notices.append(memory_notice("no_profiler"))
            self.storages.close()  # without allocator events, the noted storages have no blocks

    def close(self) -> None:
        """Stop recording and keep the recorded data; a second call does no harm."""
        if self._is_stopped:
            self._is_stopped = False
            self.readings += read_places(self._paddle)
        self.storages.close()
        if self in OPEN_CAPTURES:
            OPEN_CAPTURES.remove(self)
        if ALLOCATOR_LOG.keeps_grad_nodes:
            wait_for_others()
        if self._reader is None:
            return
        self.readings += read_places(self._paddle)
        self.python_threads |= _python_threads()
        self.waiting, self._reader = self._reader, None
        ALLOCATOR_LOG.close(self.waiting)
        if ALLOCATOR_LOG.lost_ns >= self.start_ns:
            seconds, fault = (ALLOCATOR_LOG.lost_ns - self.start_ns) / 1e9, ALLOCATOR_LOG.fault
            name = "profiler_failed" if fault else "stepped_aside"
            self.notices.append(memory_notice(name, seconds, fault=fault))
        if DOOR.has("layer_paths"):
            self.buffers = self.storages.living_buffers(self.recorder.layers)
        if DOOR.has("storages"):
            self.living, self.living_gradients = self.storages.living()

    def stop(self) -> None:
        """Stop recording; Paddle's counters are still read when the trace ends."""
        if self._reader is not None:
            seconds = (perf_counter_ns() - self.start_ns) / 1e9
            self.close()
            self._is_stopped = True
            self.notices.append(memory_notice("stopped_at_limit", seconds))

    def forget(self, kept: KeptOps, gone: Forgotten) -> None:
        """Forget the tensors and copies of ops that the trace does not keep, but no allocation."""
        met = self.storages.met
        met[:] = [storage for storage in met if storage.tensor not in gone.tensors]
        self.handovers.forget(kept)

    def settle(self, ops: int) -> int:
        """Read the events so far to save memory, and forget blocks above the limit.

        Parameters
        ----------
        ops
            How many ops have run since the last call.

        Returns
        -------
        int
            After how many ops this should be called again.
        """
        if self._reader is None:
            return MOST_SETTLE_OPS
        waiting = ALLOCATOR_LOG.take(self._reader)
        fresh = self.hold(waiting)
        if self.held.block_count > self._most_held:
            self._forget_blocks()
            self._most_held = self.held.block_count + self.most_blocks + _LEAST_SURPLUS
        return max(1, min(MOST_SETTLE_OPS, ops * _SETTLE_EVENTS // max(fresh, 1)))

    def hold(self, waiting: Waiting) -> int:
        """Read recorded segments and hold their events. Return the number of events."""
        has_devices = self.recorder.tensors.reads_place
        events, runs = read_segments(waiting.segments, has_devices=has_devices)
        spans = waiting.spans_of(self.recorder)
        runs = self._familiar.complete(events, runs, [span for _, span in spans])
        self.held.add(events, runs)
        self.backward_spans += spans
        return len(events)

    def keep_within_limit(self) -> str:
        """Forget the blocks that the trace does not keep, once all events are read.

        Returns
        -------
        str
            A notice; empty if all blocks are kept.
        """
        if self.held.block_count > self.most_blocks:
            self._forget_blocks()
        return blocks_notice(self._limit, kept=self.held.block_count, forgotten=self.held.forgotten)

    def _forget_blocks(self) -> None:
        blocks, is_gone = self.held.forget(self.most_blocks, self._windows())
        met = self.storages.met
        address = np.array([storage.address for storage in met], np.int64)
        times_ns = np.array([storage.time_ns for storage in met], np.int64)
        # A tensor without its block would seem to be older than the trace.
        stays = taken(is_gone, blocks_at(blocks, address, times_ns)) <= 0
        met[:] = compress(met, stays)
        self.backward_spans = self.held.forget_runs(self.backward_spans)

    def name_rows(self, keys: RecordKeys, stack_row: Callable[[int], int]) -> None:
        """Replace the recorder's keys of tensors, scopes and stacks by rows of the record.

        Storages whose tensor has no row are dropped. Their blocks are known from allocator events.
        """
        for storages in (self.storages.met, self.living, self.living_gradients):
            tensors = np.array([one.tensor for one in storages], np.int64)
            rows = keys.tensors.rows(tensors)
            if not np.array_equal(rows, tensors):
                pairs = zip(storages, rows.tolist(), strict=True)
                storages[:] = [Storage(row, *one[1:]) for one, row in pairs if row >= 0]
        buffers = keys.tensors.rows(np.array(self.buffers, np.int64))
        self.buffers = buffers[buffers >= 0].tolist()
        self.handovers.name_rows(keys, stack_row)
        for steps in (self.steps, self.optimizer_steps):
            steps[:] = [(time_ns, keys.scopes.row(scope)) for time_ns, scope in steps]


def _python_threads() -> set[int]:
    """Return the operating system's ids of the threads that are running Python."""
    return {thread.native_id or -1 for thread in threading.enumerate()}


OPEN_CAPTURES: list[MemoryCapture] = []
"""The captures of the open traces, outermost first."""


def note_copy(source: Any, frame: FrameType, start_ns: int, end_ns: int) -> None:
    """Note in all open traces that ``frame`` has copied a tensor or an array."""
    for capture in OPEN_CAPTURES:
        capture.recorder.attempt(capture.handovers.note_copy, source, frame, start_ns, end_ns)


def note_arrivals(tensors: Iterable[Any], frame: FrameType) -> None:
    """Note in all open traces that ``frame`` has received tensors that other code made."""
    for capture in OPEN_CAPTURES:
        capture.recorder.attempt(capture.handovers.note_arrivals, tensors, frame)
