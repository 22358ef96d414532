"""The shell of these tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from paddle_lab.capture.memory.living_tensors import LivingTensors
from paddle_lab.holders.search import HolderSearch
from tests.notebook.memory.measured_shell import SETUP
from tests.notebook.shell import fresh_shell

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search to the end.

    Hundreds of modules of tests count as the user's own; a busy machine needs longer to look into
    them all than a person would wait.
    """
    for searching in (LivingTensors, HolderSearch):
        monkeypatch.setitem(searching.__init__.__kwdefaults__ or {}, "budget_s", 60.0)


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    with fresh_shell(setup=SETUP) as shell:
        yield shell
