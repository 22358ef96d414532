"""Keeps a trace within its limit of ops while it runs, and adds a notice at the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING

from paddle_lab.capture.limit.notice import first_notice, notice
from paddle_lab.capture.limit.step_choice import OPEN, Span, StepChoice
from paddle_lab.capture.limit.trimming import Forgetting, trim
from paddle_lab.capture.rows.counter import NEVER
from paddle_lab.capture.tables.op_columns import OpRows
from paddle_lab.trace.limit import Limit

if TYPE_CHECKING:
    from paddle_lab.capture.limit.kept_ops import Keys
    from paddle_lab.capture.recorder.recorder import Recorder

_FIRST_SETTLE_OPS = 500
_LEAST_SURPLUS = 1024
"""A trace is trimmed when at least this many ops are above the limit, since trimming is costly."""


class Limiter:
    """The limit of a trace.

    While the trace runs, it has up to twice as many ops as the limit. Then all ops above the limit
    are dropped at once.

    Parameters
    ----------
    recorder
        The recorder that counts the ops.
    limit
        How many ops to keep, and which ones.
    stop
        Stops the recording of a trace that keeps its first ops.
    """

    def __init__(self, recorder: Recorder, limit: Limit, stop: Callable[[], None]) -> None:
        self._recorder = recorder
        self._limit = limit
        self._most = NEVER if limit.ops is None else limit.ops
        self._stop = stop
        self._stopped_ns = -1
        self._forgotten = 0
        self._steps = StepChoice(self._most) if limit.keep == "steps" else None
        self._lock = threading.Lock()
        self._trim_at = NEVER
        self._settled_at = 0
        self._settle_ops = _FIRST_SETTLE_OPS
        self.settle: Callable[[int], int] | None = None
        """Called now and then with the number of ops since its last call. It reduces the memory of
        the rest of the trace, and returns after how many ops it must be called again."""
        self.forgetting: Forgetting | None = None
        """Called with the rows that the trace does not keep, when the trace forgets these rows."""

    def open(self) -> None:
        """Set the first alarm: the key of the op at which :meth:`reach` is called."""
        if self._limit.ops is not None:
            # A single op above the limit shows that more ops ran.
            surplus = 1 if self._limit.keep == "first" else self._surplus
            self._set_alarm(self._most + surplus - 1)

    def reach(self) -> None:
        """Drop ops, or stop recording. Called after the op with the key of the alarm."""
        if not self._lock.acquire(blocking=False):
            return  # another thread is trimming the trace
        try:
            counter = self._recorder.next_op
            if self.settle is not None:
                self._settle_ops = self.settle(counter.next - self._settled_at)
                self._settled_at = counter.next
            if counter.next <= self._trim_at:
                self._set_alarm(self._trim_at)
                return
            if self._limit.keep == "first":
                self._set_alarm(NEVER)
                self._stopped_ns = perf_counter_ns()
                self._stop()
                return
            now = counter.next
            spans = self._spans(now)
            self._forgotten += trim(self._recorder, spans, self.forgetting)
            held = sum(min(span.end, now) - span.first for span in spans)
            self._set_alarm(now + self._most - held + self._surplus - 1)
        finally:
            self._lock.release()

    def end_step(self, time_ns: int, *, is_marked: bool) -> None:
        """Record that a training step has ended.

        Parameters
        ----------
        time_ns
            The time of the end, by ``perf_counter_ns``.
        is_marked
            Whether ``paddle_lab.step()`` ended the step, not an optimizer.
        """
        if self._steps is not None:
            self._steps.end(self._recorder.next_op.next, time_ns, is_marked=is_marked)

    def windows(self) -> list[tuple[int, int]] | None:
        """Return start and end of each kept training step, ``None`` if steps are not kept."""
        return None if self._steps is None else self._steps.windows()

    def finish(self, *, has_memory: bool) -> str:
        """Drop the ops that the trace does not keep, after recording has ended.

        Parameters
        ----------
        has_memory
            Whether the trace has allocations.

        Returns
        -------
        str
            Which ops are kept; empty if all are kept. A notice has details.
        """
        recorder = self._recorder
        recorder.next_op.alarm = NEVER
        is_whole = not self._forgotten and self._stopped_ns < 0
        if is_whole and recorder.next_op.next <= self._most:
            return ""
        keys = OpRows(recorder.ops).keys
        if len(keys) > self._most or (self._forgotten and self._steps is not None):
            self._forgotten += trim(recorder, self._final_spans(keys), self.forgetting)
            keys = OpRows(recorder.ops).keys
        if not self._forgotten and self._stopped_ns < 0:
            return ""
        if self._limit.keep == "first":
            told = first_notice(len(keys), max(self._stopped_ns - recorder.start_ns, 0))
        else:
            ran = len(keys) + self._forgotten
            told = notice(ran, len(keys), self._steps, has_memory=has_memory)
        recorder.notices.append(told)
        return self._limit.keep

    def _set_alarm(self, trim_at: int) -> None:
        self._trim_at = trim_at
        counter = self._recorder.next_op
        counter.alarm = trim_at
        if self.settle is not None:
            counter.alarm = min(trim_at, counter.next + self._settle_ops)

    @property
    def _surplus(self) -> int:
        return max(self._most, _LEAST_SURPLUS)

    def _spans(self, now: int) -> list[Span]:
        if self._steps is not None:
            return self._steps.spans(now)
        return [Span(max(now - self._most, 0), OPEN)]

    def _final_spans(self, keys: Keys) -> list[Span]:
        if self._steps is not None:
            return self._steps.spans(self._recorder.next_op.next)
        if self._limit.keep == "first":
            return [Span(0, int(keys[self._most]))]
        return [Span(int(keys[-self._most]), OPEN)]
