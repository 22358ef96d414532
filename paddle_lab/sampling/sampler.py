"""The sampler: one thread that reads all counters at a steady rate."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from paddle_lab.sampling.counter import ABSENT, Counter, LastingSource, Source
from paddle_lab.sampling.history import (
    SECOND_NS,
    Batch,
    Cursor,
    History,
    Mark,
    Marks,
    Values,
    table,
)
from paddle_lab.words import say

LOWEST_RATE_HZ: Final = 1.0
HIGHEST_RATE_HZ: Final = 100.0
BATCH_RATE_HZ: Final = 10.0


_Reading = tuple[int, list[Sequence[int]], str]
"""Time, values of each source, running layer."""


class Sampler:
    """Reads counters in a separate thread, also while the main thread runs Paddle.

    While Paddle works, the processor's caches contain Paddle's data, and a sample takes ten times
    as long. So a sample only reads the counters, 50 times a second by default. Samples are added to
    the history ten times a second, or when they are requested.

    The thread never prints and never raises. While C code holds the GIL, the thread cannot read.
    Then there are no samples in that time.

    Parameters
    ----------
    sources
        The sources to read.
    rate_hz
        Samples a second, 1 to 100.
    running_layer
        Returns the layer whose call is running, ``""`` if there is none. It is called for each
        sample.

    Raises
    ------
    ValueError
        If the rate is out of bounds.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        rate_hz: float = 50.0,
        running_layer: Callable[[], str] | None = None,
    ) -> None:
        if not LOWEST_RATE_HZ <= rate_hz <= HIGHEST_RATE_HZ:
            least, most = f"{LOWEST_RATE_HZ:g}", f"{HIGHEST_RATE_HZ:g}"
            raise ValueError(say("errors.rate", least=least, most=most, rate=f"{rate_hz:g}"))
        self._sources = tuple(sources)
        self._period_ns = int(SECOND_NS / rate_hz)
        self._running_layer = running_layer
        self._lock = threading.Lock()
        self._counters: list[Counter] = []
        self._columns: list[list[int]] = []
        """For each source, the columns of the source's counters."""
        self._version = 0
        """Incremented if a counter is added or changes."""
        self._readings: deque[_Reading] = deque()
        """Readings that are not in the history yet."""
        self._history = History()
        self._cells = Marks()
        self._layers = Marks()
        self._thread: threading.Thread | None = None
        self._going_on = threading.Lock()
        """Locked until the thread should end. Waiting for an event would take a quarter longer."""
        self.started_ns = time.perf_counter_ns()
        """Times in batches count from here, on the clock of ``time.perf_counter_ns``."""
        self.started_epoch_ns = time.time_ns()
        """The same moment on the wall clock."""
        self.fault = ""
        """The reason if the thread ended because of an error."""
        self._ask_for_counters()

    # -- running ----------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether the sampler is taking samples."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def start(self, on_batch: Callable[[Batch], None] | None = None) -> None:
        """Start sampling.

        Parameters
        ----------
        on_batch
            The thread calls this with the new samples, ten times a second. If it raises, the
            sampling stops, and :attr:`fault` has the exception.
        """
        if self.is_running:
            return
        self.fault = ""
        # Use a new lock, because a thread that is still stopping may use the old one.
        self._going_on = threading.Lock()
        self._going_on.acquire()
        self._thread = threading.Thread(
            target=self._run,
            args=(on_batch, self._going_on),
            name="paddle_lab sampler",
            daemon=True,
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop sampling and wait until its thread ends. The samples are kept."""
        if self._going_on.locked():
            self._going_on.release()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=2.0)
        with self._lock:
            self._fold()
            now_ns = time.perf_counter_ns()
            self._cells.run("", now_ns)
            self._layers.run("", now_ns)

    # -- cells ------------------------------------------------------------------------------------

    def cell_started(self, label: str) -> None:
        """Mark the begin of a cell, such as ``"[7]"``."""
        with self._lock:
            self._cells.run(label, time.perf_counter_ns())

    def cell_ended(self) -> None:
        """Mark the end of the running cell."""
        self.cell_started("")

    # -- samples ----------------------------------------------------------------------------------

    @property
    def counters(self) -> tuple[Counter, ...]:
        """All counters known by now, in the order of the values. New ones are added at the end."""
        with self._lock:
            self._fold()
            return tuple(self._counters)

    def sample(self) -> None:
        """Read all counters once."""
        now_ns = time.perf_counter_ns()
        values = [source.read(now_ns) for source in self._sources]
        layer = self._running_layer() if self._running_layer is not None else ""
        self._readings.append((now_ns, values, layer))

    def window(self, start_ns: int, end_ns: int) -> Values:
        """Return the samples in a span of ``time.perf_counter_ns``.

        Returns
        -------
        rows
            int64 of shape [rows, 1 + counters]: the time, then a value for each counter, -1 for
            none. Samples of the last two minutes are kept.
        """
        with self._lock:
            self._fold()
            return self._history.window(start_ns, end_ns, len(self._counters))

    def cells(self) -> list[Mark]:
        """Return the spans of cells that have ended, on the clock of ``time.perf_counter_ns``."""
        with self._lock:
            return self._cells.since()

    def batch(self, cursor: Cursor | None = None) -> tuple[Batch, Cursor]:
        """Return everything that is newer than ``cursor``, or everything without a cursor."""
        with self._lock:
            self._fold()
            begin = cursor or Cursor()
            width = len(self._counters)
            tiers = (self._history.samples, *self._history.bins)
            batch = Batch(
                counters=list(self._counters) if begin.version != self._version else None,
                tiers=tuple(
                    table(tier.since(count), width if tier is self._history.samples else 2 * width)
                    for tier, count in zip(tiers, begin.tiers, strict=True)
                ),
                cells=self._cells.since(begin.cells),
                layers=self._layers.since(begin.layers),
                running_cell=self._cells.running,
                running_layer=self._layers.running,
                zero_ns=self.started_ns,
            )
            counts = tuple(tier.count for tier in tiers)
            return batch, Cursor(counts, self._cells.count, self._layers.count, self._version)

    # -- the thread -------------------------------------------------------------------------------

    def _run(self, on_batch: Callable[[Batch], None] | None, going_on: threading.Lock) -> None:
        try:
            self._sample_while(going_on, on_batch)
        except Exception as error:  # noqa: BLE001  (a thread's traceback would land in some cell)
            self.fault = f"{type(error).__name__}: {error}"
        for source in self._sources:
            if isinstance(source, LastingSource):
                source.close()

    def _sample_while(
        self, going_on: threading.Lock, on_batch: Callable[[Batch], None] | None
    ) -> None:
        _, cursor = self.batch()
        batch_period_ns = int(SECOND_NS / BATCH_RATE_HZ)
        next_ns = batch_ns = time.perf_counter_ns()
        while not going_on.acquire(timeout=max(0, next_ns - time.perf_counter_ns()) / SECOND_NS):
            self.sample()
            now_ns = time.perf_counter_ns()
            if now_ns >= batch_ns:
                batch, cursor = self.batch(cursor)
                if on_batch is not None:
                    on_batch(batch)
                batch_ns = _next_beat(batch_ns, batch_period_ns, now_ns)
            next_ns = _next_beat(next_ns, self._period_ns, now_ns)

    def _ask_for_counters(self) -> None:
        """Update the counters from the sources. A counter keeps its column. New ones come last."""
        counters = list(self._counters)
        places = {_name(counter): column for column, counter in enumerate(counters)}
        self._columns = []
        for source in self._sources:
            columns = []
            for counter in source.counters():
                column = places.setdefault(_name(counter), len(places))
                counters[column : column + 1] = [counter]
                columns.append(column)
            self._columns.append(columns)
        if counters != self._counters:
            self._counters = counters
            self._version += 1

    def _fold(self) -> None:
        """Add the readings to the history. The caller must hold the lock."""
        if not self._readings:
            return
        self._ask_for_counters()
        while self._readings:
            time_ns, readings, layer = self._readings.popleft()
            row = [ABSENT] * len(self._counters)
            for columns, values in zip(self._columns, readings, strict=True):
                # If a source added a counter after a reading, the reading has fewer values.
                for column, value in zip(columns, values, strict=False):
                    row[column] = value
            self._history.append(time_ns, row)
            self._layers.run(layer, time_ns)


def _name(counter: Counter) -> tuple[str, str, str]:
    return counter.source, counter.device, counter.name


def _next_beat(beat_ns: int, period_ns: int, now_ns: int) -> int:
    """Return the time of the next beat after ``now_ns``. Missed beats are skipped."""
    missed = max(0, now_ns - beat_ns) // period_ns
    return beat_ns + (missed + 1) * period_ns
