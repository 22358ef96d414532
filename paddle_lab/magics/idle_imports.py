"""Imports what recording and showing a trace need while the kernel waits for its next cell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from paddle_lab.analysis.findings import checks

Step = Callable[[], object]

_SHOWING: Final = (
    "paddle_lab.analysis.answers",
    "paddle_lab.analysis.findings.find",
    "paddle_lab.analysis.findings.tables",
    "paddle_lab.analysis.findings.finding_list",
    "paddle_lab.trace.pack",
    "paddle_lab.views.fallback",
    "paddle_lab.views.reduction.stored",
)
_RECORDING: Final = (
    "paddle_lab.capture.memory.capture",
    "paddle_lab.capture.session",
    "paddle_lab.magics.graphed_cell",
    "paddle_lab.analysis.memory.memory",
    "paddle_lab.analysis.gradients.gradient_table",
    *(f"{checks.__name__}.{module.name}" for module in iter_modules(checks.__path__)),
)
_DELAY_S: Final = 0.01
"""When the answer to ``%load_ext`` has been sent."""
_PAUSE_S: Final = 0.001
"""Between two steps: a cell that was sent meanwhile has its turn."""


def import_when_idle() -> None:
    """Import modules one by one between the kernel's other tasks; the first trace begins sooner.

    A cell that is sent meanwhile waits for one module at most. Where no event loop runs, as in a
    terminal, they are imported when they are needed. So are those that fail here: who needs them
    says what is wrong.

    A cell may come soon. What shows its trace comes first: when the cell has ended, a person waits.
    """
    _do_when_idle(STEPS, after_s=_DELAY_S)


def _do_when_idle(steps: Sequence[Step], *, after_s: float) -> None:
    with suppress(RuntimeError):
        asyncio.get_running_loop().call_later(after_s, _do_first, steps)


def _do_first(steps: Sequence[Step]) -> None:
    with suppress(Exception):
        steps[0]()
    if steps[1:]:
        _do_when_idle(steps[1:], after_s=_PAUSE_S)


def _pack_view() -> None:
    """Pack the widget's script, which takes as long as a module."""
    from paddle_lab.views.static_files import packed_script

    packed_script("widget_view.js")


def _imports(*names: str) -> list[Step]:
    return [partial(import_module, name) for name in names]


STEPS: Final[Sequence[Step]] = (
    # A module that others import comes before them, so that each step is short.
    *_imports("psygnal", "ipywidgets", "anywidget", "paddle_lab.views.widgets.graph_widget"),
    _pack_view,
    *_imports(*_SHOWING, *_RECORDING),
)
"""What is done, in this order."""
