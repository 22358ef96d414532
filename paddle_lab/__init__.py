"""See what a notebook cell computed with PaddlePaddle: linked graphs, stacks and lines.

>>> import paddle_lab
>>> with paddle_lab.trace() as trace:      # doctest: +SKIP
...     loss = net(x).mean()
...     loss.backward()
>>> trace.graph("backward")                # doctest: +SKIP

Importing this package imports no large package. Paddle is needed to record traces, but not to open
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_lab.api import Trace, load, load_dump
from paddle_lab.capture.availability import PaddleUnavailableError as PaddleUnavailableError
from paddle_lab.cluster_check import check_cluster
from paddle_lab.comparing import Comparison, compare
from paddle_lab.crash_reports import last_crash
from paddle_lab.opened_run import Run, open_run
from paddle_lab.recording import memory, region, step, trace
from paddle_lab.replayed_values import ReplayError
from paddle_lab.rerunning import deterministic, rerun
from paddle_lab.static_graphs.explaining import explain_static
from paddle_lab.static_graphs.exporting import check_export, compare_static
from paddle_lab.static_graphs.static_programs import program, save_lines
from paddle_lab.trace.record import TraceFileError
from paddle_lab.version import __version__
from paddle_lab.words import language

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from paddle_lab.views.text.finding_text import CheckList

__all__ = [
    "Comparison",
    "ReplayError",
    "Run",
    "Trace",
    "TraceFileError",
    "__version__",
    "check_cluster",
    "check_export",
    "checks",
    "compare",
    "compare_static",
    "deterministic",
    "explain_static",
    "language",
    "last_crash",
    "load",
    "load_dump",
    "load_ipython_extension",
    "memory",
    "open_run",
    "program",
    "region",
    "rerun",
    "save_lines",
    "step",
    "trace",
    "unload_ipython_extension",
]


def checks() -> CheckList:
    """Return a table of all checks: their purpose, cost and requirements.

    The text is in the language of :func:`language`. Iterate over the table to get the checks.
    """
    from paddle_lab.views.text.finding_text import CheckList

    return CheckList()


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magics; ``%load_ext paddle_lab`` calls this."""
    from paddle_lab import magics

    magics.register(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Remove the magics; ``%unload_ext paddle_lab`` calls this."""
    from paddle_lab import magics

    magics.unregister(shell)


def __dir__() -> list[str]:
    return sorted(__all__)
