"""The functions ``paddle_lab.trace()``, ``memory()``, ``region("name")`` and ``step()``."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from paddle_lab.api import PathLike, Trace
from paddle_lab.comparing import Comparison, digest_decimals_of, opened
from paddle_lab.garbage import collection_paused
from paddle_lab.notebook_cells import NotebookCells, running_cells
from paddle_lab.options import hints_options
from paddle_lab.trace.limit import (
    DEFAULT_OPS,
    DEFAULT_REPLAY_MB,
    EXACT,
    Keep,
    Limit,
    digest_decimals,
    limit_of,
    replay_mb,
)
from paddle_lab.trace.log_text import log_level
from paddle_lab.trace.record import Origin, Record
from paddle_lab.words import listing, say

if TYPE_CHECKING:
    from paddle_lab.capture.replay.values import Replay
    from paddle_lab.capture.session import CaptureSession


@hints_options
def trace(
    *,
    title: str | None = None,
    check: str | Sequence[str] | None = None,
    grads: bool | str = False,
    values: bool | str = False,
    digest: bool | str = False,
    decimals: int | None = None,
    against: Trace | PathLike | None = None,
    profile: bool = False,
    log: int | None = None,
    limit: int | None = DEFAULT_OPS,
    keep: Keep = "newest",
    replay: bool = False,
    replay_limit: int = DEFAULT_REPLAY_MB,
) -> Recording:
    """Record every op that a ``with`` block runs, and the backward graphs it makes.

    Parameters
    ----------
    title
        The trace's title in the views. Default: the cell or line of the ``with`` statement.
    check
        The checks to run: ``"all"``, ``"none"``, or names of checks. Default: the checks that cost
        next to nothing.
    grads
        Whether to record statistics of each gradient: norm, extremes, zeros, NaN, a histogram. With
        the name of a region (:func:`region`), the trace also keeps the gradients that the region's
        ops pass on, as ``trace.gradients[…].value``. A notice says how large they are.
    values
        Whether to record statistics of each op's outputs: extremes, mean, standard deviation,
        zeros, NaN, Inf, a histogram; see :attr:`Trace.values`. With the name of a region or the
        path of a layer (``"encoder.layers.3"``), only ops inside it are included. The outputs are
        read directly after the op, and not kept.
    digest
        Whether to record a 64-bit digest of each op's outputs and of each gradient, and statistics.
        With them :func:`compare` finds where two traces differ. With the name of a region or the
        path of a layer, the trace also keeps the outputs of ops inside it, and saves up to 256 MiB
        of them. Then :func:`compare` can also say how large the differences are.
    decimals
        To how many decimals to round values for ``digest``, so that small noise makes no
        difference.
    against
        A trace, or the path of a saved one, with which to compare this one:
        ``trace.comparison``. It implies ``digest``, with the other trace's ``decimals``.
    profile
        Whether to record how long the kernels of each op and grad node took, with Paddle's own
        profiler: ``trace.kernels``. The code then takes a little longer.
    log
        The level of Paddle's own log (VLOG, ``GLOG_v``), 1 to 10. ``trace.log`` records the log at
        this level, each entry with the op or grad node that wrote it. The output does not show the
        log. Afterwards the level is restored. Level 3 has each op and grad node, 4 also its kernel,
        5 more about its tensors, 6 everything. Use :func:`region` to log only a part of the code.
        From level 2 on, Paddle also prints texts about compiled programs. They do not belong to the
        log, and are shown. If the process dies, the log remains in the temporary folder
        ``paddle-lab-log-PID-…`` for at least a day.
    limit
        The largest number of ops that the trace keeps, so that the trace of a long training needs
        bounded memory. While the code runs, the trace has up to twice as many. ``None`` keeps all
        ops. If the limit was reached, a notice says so.
    keep
        Which ops to keep at the limit. ``"newest"``: the last ops. ``"first"``: the first ops;
        recording then stops, and the code continues without a trace. ``"steps"``: training steps
        spread over the run, with the first and the newest. A step ends with an optimizer's
        ``step``, or with :func:`step`.
    replay
        Whether :meth:`Trace.value` can compute values again after the trace. For this the trace
        holds the arguments of each op and the tensors that existed before the trace. They are
        copied before an op overwrites them. Only the newest such trace holds them.
    replay_limit
        How many MB (10\u2076 bytes) of tensors the trace may hold for ``replay``. Values that
        depend on other tensors cannot be computed again.

    Returns
    -------
    Recording
        A context manager. ``with paddle_lab.trace() as trace:`` assigns a :class:`Trace`, which can
        be used after the block has ended, even if the block raised.

    Raises
    ------
    PaddleUnavailableError
        On entering, if there is no PaddlePaddle, or one older than 3.3.
    TypeError
        For an unknown option, naming the nearest one; for a title that is no text, a limit or a
        level that is no whole number, ``grads``, ``values`` or ``digest`` that is neither a bool
        nor text, ``profile`` or ``replay`` that is no bool, or ``against`` that is no trace.
    ValueError
        For an unknown check or way to keep; for a limit less than 1; for a level that is not 1 to
        10; for decimals that are not 0 to 12, or without ``digest``.
    TraceFileError, OSError
        If the file of ``against`` cannot be read; see :func:`load`.
    """
    other = None if against is None else opened(against)
    rounded = digest_decimals(digest or other is not None, decimals)
    if other is not None and decimals is None:
        rounded = digest_decimals_of(other)
    return Recording(
        title=title,
        check=check,
        grads=grads,
        values=values,
        digest=digest,
        decimals=rounded,
        profile=profile,
        log=log_level(log),
        limit=limit_of(limit, keep),
        replay_mb=replay_mb(replay, replay_limit),
        against=other,
    )


@hints_options
def memory(
    *,
    title: str | None = None,
    check: str | Sequence[str] | None = None,
    grads: bool | str = False,
    values: bool | str = False,
    digest: bool | str = False,
    decimals: int | None = None,
    profile: bool = False,
    log: int | None = None,
    limit: int | None = DEFAULT_OPS,
    keep: Keep = "newest",
) -> Recording:
    """Record the same as :func:`trace`, and every allocation of Paddle with its op and line.

    Parameters
    ----------
    title
        The trace's title in the views. Default: the cell or line of the ``with`` statement.
    check, grads, values, digest, decimals, profile, log, limit, keep
        See :func:`trace`. The trace also keeps allocations, at most five times as many as ops, even
        those of ops that it drops. Other allocations are summed up, so that the total stays exact,
        and a notice says so. With ``keep="first"`` memory is recorded as long as ops are.

    Returns
    -------
    Recording
        See :func:`trace`. The trace also has ``allocations`` and ``memory``.

    Raises
    ------
    PaddleUnavailableError, TypeError, ValueError
        See :func:`trace`.
    """
    return Recording(
        title=title,
        memory=True,
        check=check,
        grads=grads,
        values=values,
        digest=digest,
        decimals=digest_decimals(digest, decimals),
        profile=profile,
        log=log_level(log),
        limit=limit_of(limit, keep),
    )


@hints_options
def region(name: str, *, log: int | None = None) -> AbstractContextManager[None]:
    """Mark a named part of the traced code. Outside of a trace this does nothing.

    Parameters
    ----------
    name
        The title of the region's group in the graph.
    log
        The level of Paddle's own log in this part and in its backward pass; see :func:`trace`. By
        default the level does not change.

    Raises
    ------
    TypeError
        If the name is missing or is not text, or the level is no whole number.
    ValueError
        If the level is not 1 to 10.
    """
    from paddle_lab.capture.recorder.regions import region as capture_region

    return capture_region(name, log_level(log))


def step() -> None:
    """Mark the end of a training step, if no optimizer's ``step`` marks it.

    ``trace.memory.growth()`` compares the memory at the ends of steps to find leaks, and
    ``keep="steps"`` keeps whole steps. If a trace has calls of this function, only these calls end
    steps. Outside of a trace this does nothing.
    """
    recorders = sys.modules.get("paddle_lab.capture.recorder.recorder")
    for recorder in recorders.SINKS.active if recorders is not None else ():
        recorder.on_step_end(recorder.thread().scope, is_marked=True)


class Recording:
    """The context manager that :func:`trace` and :func:`memory` return.

    Parameters
    ----------
    title
        The trace's title in the views.
    anchor
        The frame that runs the traced code. Stacks end there. By default there is no anchor, and
        stacks also contain the ``with`` statement and its callers.
    memory
        Whether to record allocations as well.
    check, grads, values, digest, profile, log
        As in :func:`trace`.
    decimals
        The result of :func:`~paddle_lab.trace.limit.digest_decimals`.
    reruns
        Whether the code can run a second time, for checks that need this. A ``with`` block cannot.
    limit
        How many ops to keep, and which ones.
    replay_mb
        How many MB of tensors the trace may hold to compute values again; 0 for none.
    against
        The trace with which to compare.
    """

    def __init__(
        self,
        *,
        title: str | None = None,
        anchor: FrameType | None = None,
        memory: bool = False,
        check: str | Sequence[str] | None = None,
        grads: bool | str = False,
        values: bool | str = False,
        digest: bool | str = False,
        decimals: int | None = None,
        profile: bool = False,
        log: int | None = None,
        reruns: bool = False,
        limit: Limit = Limit(),  # noqa: B008  (frozen)
        replay_mb: int = 0,
        against: Trace | None = None,
    ) -> None:
        from paddle_lab.analysis.findings.registry import chosen, evidence_for, is_all, rerun_kinds

        if title is not None and not isinstance(title, str):
            raise TypeError(say("errors.title_type", title=repr(title)))
        for name, value in {"grads": grads, "values": values, "profile": profile}.items():
            if not isinstance(value, bool) and (name == "profile" or not isinstance(value, str)):
                key = "errors.not_a_flag" if name == "profile" else "errors.not_a_part"
                raise TypeError(say(key, option=name, value=repr(value)))
        self._title = title
        self._shown_title = ""
        self._anchor = anchor
        self._memory = memory
        self._profile = profile
        self._log = log
        self._limit = limit
        self._replay_bytes = replay_mb * 10**6
        self._checks = chosen(check)
        self._notices: list[str] = []
        self._asks_for_cuda = "cuda-error" in self._checks and not is_all(check)
        left_out = [] if reruns else rerun_kinds(self._checks)
        self._checks = [kind for kind in self._checks if kind not in left_out]
        if left_out and not is_all(check):
            self._notices.append(_unchecked(left_out, "with_block"))
        self._evidence = {*evidence_for(self._checks), *(("gradients",) if grads else ())}
        self._grad_region = grads if isinstance(grads, str) else None
        self._values = values
        self._kept_part = digest if isinstance(digest, str) else None
        self._decimals = EXACT if decimals is None and "rerun" in self._evidence else decimals
        self._against = against
        self.hooked: set[int] | None = None
        """The ids of tensors whose gradient hooks changed, once the block has ended; ``None`` if
        the run cannot be compared with a second run."""
        self._trace: Trace | None = None
        self._session: CaptureSession | None = None

    @property
    def op_count(self) -> int:
        """How many ops have run since the recording began; 0 while nothing is recorded."""
        return 0 if self._session is None else self._session.op_count

    @property
    def recorded_op_count(self) -> int | None:
        """How many ops have run; ``None`` while no ops are recorded."""
        session = self._session
        return session.op_count if session is not None and session.is_recording else None

    @property
    def log_bytes(self) -> int:
        """How many bytes of log Paddle has written so far; 0 while nothing is recorded."""
        return 0 if self._session is None else self._session.log_bytes

    def __enter__(self) -> Trace:
        from paddle_lab.capture.flight.flight_record import FLIGHT
        from paddle_lab.capture.session import CaptureSession

        if self._session is not None:
            raise RuntimeError(say("errors.recording_already"))
        frame = sys._getframe(1)  # noqa: SLF001  (CPython's documented way to the caller)
        cells = running_cells()
        self._shown_title = self._title or _place_of(frame, cells)
        self._session = CaptureSession(
            anchor=self._anchor or frame.f_back,
            within=None if self._anchor else frame,
            cells=cells,
            memory=self._memory,
            profile=self._profile,
            log=self._log,
            evidence=self._evidence,
            grad_region=self._grad_region,
            values=self._values,
            decimals=self._decimals,
            kept_part=self._kept_part,
            limit=self._limit,
            replay_bytes=self._replay_bytes,
        )
        self._trace = Trace()
        if self._against is not None:
            self._trace.comparison = Comparison(self._against, self._trace)
        FLIGHT.enter(self._shown_title)
        try:
            self._session.open()
        except BaseException:
            self._session = None
            FLIGHT.leave()
            raise
        return self._trace

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._finish(error)
        except BaseException:  # even an interrupt must leave no hook behind
            if self._session is not None:
                self._session.abort()
            raise
        finally:
            if self._session is not None:
                from paddle_lab.capture.flight.flight_record import FLIGHT

                FLIGHT.leave()
            self._session = None

    def _finish(self, error: BaseException | None) -> None:
        if self._session is None or self._trace is None:
            return
        try:
            with collection_paused():
                record = self._session.close(error)
        except Exception as fault:  # noqa: BLE001
            # If our own code fails, the user's error and results must not be lost.
            self._session.abort()
            record = Record.empty()
            notice = say("notices.fault.lost", fault=f"{type(fault).__name__}: {fault}")
            record.origin.notices.append(notice)
            warnings.warn(notice, RuntimeWarning, stacklevel=3)
        else:
            record.origin.checks = self._checks
            # Only complete runs can be compared.
            if self._session.hook_changes is not None and not record.origin.kept:
                self.hooked = self._session.hook_changes.tensors
        record.origin = replace(record.origin, title=self._shown_title)
        record.origin.notices.extend(self._notices)
        self._drop_partial(record.origin)
        if self._asks_for_cuda and not _has_cuda():
            record.origin.notices.append(_unchecked(["cuda-error"], "no_cuda"))
        replay = self._replay_of(error)
        if replay is not None:
            record.origin.notices.extend(replay.cost())
        self._trace.complete(record, replay)

    def _replay_of(self, error: BaseException | None) -> Replay | None:
        """Return what computes values again, and release the tensors that older traces hold."""
        if self._session is None or self._session.calls is None:
            return None
        from paddle_lab.capture.replay.values import Replay

        is_interrupted = error is not None and not isinstance(error, Exception)
        return Replay(self._session.calls, is_interrupted=is_interrupted)

    def _drop_partial(self, origin: Origin) -> None:
        """Remove checks that would raise false alarms because the limit dropped ops."""
        from paddle_lab.analysis.findings.registry import needing_more_than

        dropped = needing_more_than(origin.kept, origin.checks) if origin.kept else []
        if dropped:
            origin.checks = [kind for kind in origin.checks if kind not in dropped]
            origin.notices.append(_unchecked(dropped, "left_out"))


def _unchecked(kinds: Sequence[str], why: str) -> str:
    reason = say(f"notices.unchecked.{why}")
    return say("notices.unchecked.because", kinds=listing(kinds), reason=reason)


def _has_cuda() -> bool:
    from paddle_lab.capture.availability import require_paddle

    return bool(require_paddle().is_compiled_with_cuda())


def _place_of(frame: FrameType, cells: NotebookCells | None) -> str:
    file = frame.f_code.co_filename
    number = -1 if cells is None else cells.number(file)
    place = say("reports.title.cell", cell=number) if number >= 0 else os.path.basename(file)
    return say("reports.title.line", place=place, line=frame.f_lineno)
