"""Runs tests of parts that exist in Python and in C with both."""

from __future__ import annotations

from typing import Any

import pytest

# Each of them declares its twin when it is imported.
from paddle_lab.capture import running_layer  # noqa: F401
from paddle_lab.capture.evidence.values import scan  # noqa: F401
from paddle_lab.capture.log import assembly  # noqa: F401
from paddle_lab.capture.native import NATIVE, TWINS
from paddle_lab.capture.recorder import recorder  # noqa: F401
from paddle_lab.capture.stacks import stack_rows  # noqa: F401


class Parts:
    """The parts of one implementation, by their names: ``parts.Tape``."""

    def __init__(self, language: str) -> None:
        self.language = language

    def __repr__(self) -> str:
        return self.language

    def __getattr__(self, name: str) -> Any:
        if name not in TWINS:
            raise AttributeError(name)
        in_python, in_c = TWINS[name]
        return in_python if self.language == "python" else in_c


PYTHON, C = Parts("python"), Parts("c")
NOT_BUILT = pytest.mark.skipif(NATIVE is None, reason="the native part was not built")
on_both_twins = pytest.mark.parametrize(
    "parts", [pytest.param(PYTHON, id="python"), pytest.param(C, id="c", marks=NOT_BUILT)]
)
"""Runs a test twice, with the parts of either implementation as its parameter ``parts``."""
