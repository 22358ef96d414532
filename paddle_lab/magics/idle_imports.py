"""Imports what recording and showing a trace need while the kernel waits for its next cell."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from paddle_lab.analysis.findings import checks

_MODULES: Final = (
    "paddle_lab.capture.memory.capture",
    "paddle_lab.capture.session",
    "paddle_lab.magics.graphed_cell",
    "paddle_lab.analysis.gradients.gradient_table",
    "paddle_lab.analysis.findings.find",
    *(f"{checks.__name__}.{module.name}" for module in iter_modules(checks.__path__)),
    "psygnal",
    "ipywidgets",
    "anywidget",
    "paddle_lab.analysis.answers",
    "paddle_lab.analysis.findings.tables",
    "paddle_lab.analysis.findings.finding_list",
    "paddle_lab.analysis.memory.memory",
    "paddle_lab.trace.pack",
    "paddle_lab.views.fallback",
    "paddle_lab.views.reduction.ladder",
    "paddle_lab.views.widgets.graph_widget",
)
"""In this order: a module that others import comes before them, so that each step is short."""
_DELAY_S: Final = 0.05
_PAUSE_S: Final = 0.01
"""Between two modules: a cell that was sent meanwhile has its turn."""


def import_when_idle(modules: Sequence[str] = _MODULES, *, after_s: float = _DELAY_S) -> None:
    """Import modules one by one between the kernel's other tasks; the first trace begins sooner.

    A cell that is sent meanwhile waits for one module at most. Where no event loop runs, as in a
    terminal, they are imported when they are needed. So are those that fail here: who needs them
    says what is wrong.

    Parameters
    ----------
    modules
        Full names, those that others import first.
    after_s
        When to begin, in seconds.
    """
    with suppress(RuntimeError):
        asyncio.get_running_loop().call_later(after_s, _import_first, tuple(modules))


def _import_first(modules: tuple[str, ...]) -> None:
    with suppress(Exception):
        import_module(modules[0])
    if modules[1:]:
        import_when_idle(modules[1:], after_s=_PAUSE_S)
    else:
        _pack_view()


def _pack_view() -> None:
    """Pack the widget's script, which takes as long as a module."""
    from paddle_lab.views.static_files import packed_script

    with suppress(OSError):
        packed_script("widget_view.js")
