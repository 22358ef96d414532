"""Repeatable runs: ``paddle_lab.rerun(function)`` and ``with paddle_lab.deterministic():``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from paddle_lab.api import Trace
from paddle_lab.comparing import Comparison
from paddle_lab.notebook_cells import running_cells
from paddle_lab.options import hints_options
from paddle_lab.recording import Recording
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.capture.deterministic import Setting
    from paddle_lab.capture.rerun.runs import Rerun


@hints_options
def deterministic(*, seed: int = 0) -> AbstractContextManager[list[Setting]]:
    """Make runs repeatable inside a ``with`` block. Afterwards all settings are restored.

    This seeds Paddle, NumPy and Python. It creates each DataLoader without workers and without
    shuffling. It sets ``NVIDIA_TF32_OVERRIDE=0``, ``NCCL_ALGO=Tree``,
    ``FLAGS_embedding_deterministic`` and ``FLAGS_cudnn_deterministic``. The value of the ``with``
    statement lists the settings, and when each takes effect. The first two are environment
    variables that a process reads when it starts to use a GPU. A process that has used a GPU before
    must be restarted with these variables. After the block the generators continue from their
    earlier state.

    Parameters
    ----------
    seed
        The seed of all three generators.

    Raises
    ------
    PaddleUnavailableError
        On entering, if there is no PaddlePaddle, or one older than 3.3.
    TypeError
        For an unknown option, naming the nearest one.
    """
    from paddle_lab.capture.deterministic import deterministic as settings

    return settings(seed)


@hints_options
def rerun(
    function: Callable[[], object],
    *,
    check: str | Sequence[str] = ("nondeterminism", "unwritten-output"),
    title: str | None = None,
) -> Trace:
    """Trace a call, and repeat it from the same state to find differences.

    Before the second call, everything that the function can reach is restored: parameters, buffers,
    gradients, optimizers, variables, and the generators of Paddle, NumPy and Python. Afterwards
    everything has the state after the first call.

    Parameters
    ----------
    function
        The function, which is called without arguments.
    check
        The checks to run, as in :func:`paddle_lab.trace`; by default the checks that need two runs.
    title
        The trace's title in the views.

    Returns
    -------
    Trace
        The trace of the first call; its ``findings`` name the first line that differed. Its
        ``comparison`` with the second call is what a notebook shows. If the function cannot run
        twice, a notice of the trace says why.

    Raises
    ------
    PaddleUnavailableError
        If there is no PaddlePaddle, or one older than 3.3.
    TypeError
        For an unknown option, naming the nearest one.
    ValueError
        For an unknown check.
    """
    from paddle_lab.analysis.findings.registry import chosen, rerun_kinds
    from paddle_lab.capture.availability import require_paddle
    from paddle_lab.capture.rerun.runs import Rerun
    from paddle_lab.capture.rerun.state import StateBefore

    kinds = rerun_kinds(chosen(check))
    paddle = require_paddle()

    def prepare() -> tuple[StateBefore, Callable[[], object]]:
        return StateBefore(paddle, [function]), function

    again = Rerun(kinds, prepare, running_cells()) if kinds else None
    name = getattr(function, "__name__", type(function).__name__)
    recording = Recording(title=title or name, check=check, reruns=True)
    with recording as trace:
        function()
    if again is not None and recording.hooked is not None:
        trace.complete(again.finish(trace.record, recording.hooked))
        compare_with_second_run(trace, again)
    return trace


def compare_with_second_run(trace: Trace, again: Rerun) -> None:
    """Set the comparison of a run and its second run, if there was one."""
    if again.second is not None:
        again.second.origin.title = say("comparison.second_run")
        trace.comparison = Comparison(Trace(again.second), trace, is_rerun=True)
