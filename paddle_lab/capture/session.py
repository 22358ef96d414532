"""Runs one trace, from its beginning to its record."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable, Collection
from contextlib import suppress
from sys import _getframe
from time import perf_counter_ns
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.collector import CudaErrors
from paddle_lab.capture.evidence.glances import Glances
from paddle_lab.capture.evidence.gradients.collector import Gradients
from paddle_lab.capture.evidence.values.collector import Values
from paddle_lab.capture.evidence.values.inside import Inside
from paddle_lab.capture.hooks.backward_hooks import REMAINING
from paddle_lab.capture.hooks.hooks import HOOKS
from paddle_lab.capture.kernels.assembly import add_roofline
from paddle_lab.capture.kernels.capture import KernelCapture
from paddle_lab.capture.limit.limiter import Limiter
from paddle_lab.capture.limit.trimming import mark_earlier
from paddle_lab.capture.log.capture import LogCapture
from paddle_lab.capture.memory.capture import MemoryCapture
from paddle_lab.capture.recorder.faults import described, described_with_causes
from paddle_lab.capture.recorder.recorder import SINKS, Recorder
from paddle_lab.capture.replay.call_log import CallLog
from paddle_lab.capture.rerun.hook_changes import HookChanges
from paddle_lab.capture.stacks.source_texts import Cells, NoCells
from paddle_lab.capture.stacks.stack_pool import NO_STACK
from paddle_lab.capture.stacks.stopped_line import stopped_at
from paddle_lab.capture.tables.assembly import assemble
from paddle_lab.trace.limit import Limit
from paddle_lab.trace.record import Origin, Record
from paddle_lab.version import __version__

if TYPE_CHECKING:
    from paddle_lab.capture.evidence.collector import Collector, Forgotten
    from paddle_lab.capture.limit.kept_ops import KeptOps

_Part = TypeVar("_Part", bound="Collector")


class CaptureSession:
    """Installs the hooks, removes them, and builds the record.

    Parameters
    ----------
    anchor
        A frame that runs as long as the trace. Stacks are recorded up to this frame.
    within
        The frame of the ``with`` statement. Loops around the statement are not part of the trace.
        If it is given, stacks also contain the anchor and its callers.
    cells
        Finds notebook cells by file name; ``None`` outside of notebooks.
    memory
        Whether to record allocations as well.
    profile
        Whether to record the times of kernels as well.
    log
        The level of Paddle's log, to record it as well.
    evidence
        Data to record for checks, in addition to what every trace has: ``"values"``,
        ``"gradients"``, ``"rerun"``, ``"cuda"``.
    grad_region
        The region whose gradients are kept as arrays.
    values
        Whether to scan the values of all tensors in full, or in which region or layer.
    decimals
        To how many decimals the values of all tensors and gradients are rounded for their digests;
        ``None`` for no digests.
    kept_part
        The region or layer whose values are kept.
    limit
        How many ops to keep, and which ones. By default all are kept.
    replay_bytes
        How many bytes of tensors the trace may hold, to compute values again later; 0 for none.

    Raises
    ------
    PaddleUnavailableError
        If there is no Paddle that can be traced.
    """

    def __init__(
        self,
        *,
        anchor: FrameType | None,
        within: FrameType | None = None,
        cells: Cells | None = None,
        memory: bool = False,
        profile: bool = False,
        log: int | None = None,
        evidence: Collection[str] = (),
        grad_region: str | None = None,
        values: bool | str = False,
        decimals: int | None = None,
        kept_part: str | None = None,
        limit: Limit | None = None,
        replay_bytes: int = 0,
    ) -> None:
        self._paddle: Any = require_paddle()
        self._cells: Cells = cells or NoCells()
        self._within = within
        self._recorder = Recorder(self._paddle, anchor=anchor, keeps_callers=within is not None)
        self._recorder.cells = self._cells
        wanted = {"trace", *evidence}
        wanted |= {"memory", "profiler"} if memory else set()
        wanted |= {"kernels", "profiler"} if profile else set()
        wanted |= {"log"} if log is not None else set()
        wanted |= {"replay"} if replay_bytes else set()
        self._recorder.notices.extend(DOOR.notices(wanted))
        limit = limit or Limit(ops=None)
        self._limiter = Limiter(self._recorder, limit, self._stop_recording)
        windows = self._limiter.windows
        self._memory = (
            MemoryCapture(self._paddle, self._recorder, limit, windows) if memory else None
        )
        self._kernels = KernelCapture(self._paddle, self._recorder) if profile else None
        self._recorder.reach_limit = self._limiter.reach
        self._recorder.on_step_end = self._end_step
        self._log = LogCapture(log)
        self._recorder.log_inside = self._log.inside
        self._parts: list[MemoryCapture | KernelCapture | LogCapture] = [
            part for part in (self._memory, self._kernels, self._log) if part is not None
        ]
        self._records_events = len(self._parts) > 1 or log is not None
        if self._records_events:
            self._limiter.settle = self._settle
            self._limiter.forgetting = self._forget
        collectors = self._recorder.collectors
        if "events" in evidence:
            collectors.append(Glances(self._recorder))
        has_digests = decimals is not None
        if values or "values" in evidence or has_digests:
            collectors.append(
                Values(
                    self._recorder,
                    in_full=bool(values),
                    inside=self._inside(values),
                    elsewhere="values" in evidence,
                    decimals=decimals,
                    keeps=self._inside(kept_part),
                )
            )
        wants_gradients = "gradients" in evidence
        if (wants_gradients or has_digests) and DOOR.has("backward") and DOOR.has("gradients"):
            gradients = Gradients(
                self._recorder,
                values_of=grad_region,
                with_histogram=wants_gradients,
                decimals=decimals,
            )
            collectors.append(gradients)
        if "cuda" in evidence and self._paddle.is_compiled_with_cuda():
            collectors.append(CudaErrors(self._paddle))
        self.hook_changes: HookChanges | None = None
        """Notes changed gradient hooks, if ``"rerun"`` is among the evidence."""
        if "rerun" in evidence:
            self.hook_changes = HookChanges()
            collectors.append(self.hook_changes)
        self.calls: CallLog | None = None
        """The calls and tensors held to compute values again; ``None`` if none are held."""
        if replay_bytes and all(map(DOOR.has, ("replay", "random_state", "storages", "copies"))):
            self.calls = CallLog(self._recorder, self._paddle, replay_bytes)
            collectors.append(self.calls)
        self._created = datetime.datetime.now().astimezone().isoformat(timespec="seconds")

    def _inside(self, name: bool | str | None) -> Inside | None:  # noqa: FBT001
        folder = os.path.dirname(os.path.abspath(self._paddle.__file__))
        if not isinstance(name, str):
            return None
        return Inside(self._recorder, name, paddle_folder=folder)

    def collect(self, make: Callable[[Recorder], _Part]) -> _Part:
        """Add a collector before the session opens, and return it."""
        collector = make(self._recorder)
        self._recorder.collectors.append(collector)
        return collector

    @property
    def op_count(self) -> int:
        """How many ops have run so far, including dropped ops."""
        return self._recorder.next_op.next

    @property
    def is_recording(self) -> bool:
        """Whether ops are being recorded. Recording stops after a fault, or at the limit."""
        return self._recorder in SINKS.active

    @property
    def log_bytes(self) -> int:
        """How many bytes of Paddle's log were written so far."""
        return self._log.size

    def open(self) -> None:
        """Install the hooks and start the clock."""
        self._recorder.start_ns = perf_counter_ns()
        try:
            self._open_parts()
            # The time to open other parts, such as memory, counts as the trace's own time.
            self._recorder.thread().own_ns += perf_counter_ns() - self._recorder.start_ns
        except Exception as fault:  # noqa: BLE001  (the user's code runs without a trace)
            self._recorder.abandon(fault)
        except BaseException:  # an interrupt at any point must leave no hook behind
            self.abort()
            raise

    def _open_parts(self) -> None:
        for collector in self._recorder.collectors:
            collector.open()
        self._limiter.open()
        if self._within is not None:
            self._recorder.turns.begin(self._within)
            self._within = None
        HOOKS.open(self._paddle, self._recorder)
        # The time to install the hooks does not belong to the traced code.
        self._recorder.start_ns = perf_counter_ns()
        for part in self._parts:
            try:
                part.open()
            except Exception as fault:  # noqa: BLE001, PERF203  (the trace goes on without it)
                notice = DOOR.failure_notice(part.feature, described(fault))
                self._recorder.notices.append(notice)
                part.close()
        if not self._records_events:
            self._recorder.start_ns = perf_counter_ns()

    def _settle(self, ops: int) -> int:
        return min(part.settle(ops) for part in self._parts)

    def _forget(self, kept: KeptOps, gone: Forgotten) -> None:
        for part in self._parts:
            part.forget(kept, gone)

    def abort(self) -> None:
        """Remove the hooks, whatever the state of the session is."""
        for part in self._parts:
            part.close()
        self._remove_hooks()
        self._recorder.turns.end(_getframe())

    def _remove_hooks(self) -> None:
        HOOKS.close(self._recorder)
        for collector in self._recorder.collectors:
            collector.close()

    def _end_step(self, scope: int, *, is_marked: bool) -> None:
        time_ns = perf_counter_ns()
        self._limiter.end_step(time_ns, is_marked=is_marked)
        if self._memory is not None:
            steps = self._memory.steps if is_marked else self._memory.optimizer_steps
            steps.append((time_ns - self._recorder.start_ns, scope))

    def _stop_recording(self) -> None:
        """Stop recording before the traced code ends."""
        for part in self._parts:
            part.stop()
        self._remove_hooks()

    def close(self, error: BaseException | None = None) -> Record:
        """Remove the hooks and return the record, also if the traced code raised."""
        recorder = self._recorder
        begun_ns = perf_counter_ns()
        for part in self._parts:
            part.close()
            recorder.notices.extend(part.notices)
        end_ns = perf_counter_ns() if self._records_events else begun_ns
        recorder.thread().own_ns += end_ns - begun_ns
        self._remove_hooks()
        recorder.turns.end(_getframe())
        recorder.attempt(recorder.optimizers.finish, self._paddle)
        recorder.attempt(recorder.loaders.finish, recorder.events, self._cells)
        kept = self._limiter.finish(has_memory=self._memory is not None)
        call = recorder.next_backward_call()
        if recorder.backward.walk_remaining(call):
            recorder.backward_calls.append(
                (call, REMAINING, NO_STACK, -1, recorder.next_op.next, False, True, 0, 0, 0, 0, "")
            )
        origin = Origin(
            created=self._created,
            paddle=str(self._paddle.__version__),
            python=platform.python_version(),
            paddle_lab=__version__,
            device=str(self._paddle.device.get_device()),
            duration_ns=end_ns - recorder.start_ns,
            exception="" if error is None else described_with_causes(error),
            **stopped_at(error, self._cells),
            notices=[*recorder.notices, *filter(None, [recorder.events.missed_calls])],
            kept=kept,
        )
        record = assemble(
            recorder, self._paddle, origin, self._cells, self._memory, self._kernels, self._log,
            _getframe(),
        )  # fmt: skip
        if kept:
            mark_earlier(record)
        if len(record.kernel_times) and error is None:  # after an error, memory may be short
            with suppress(Exception):  # without this evidence, shares of the roofline are unknown
                add_roofline(record, self._paddle)
        return record
