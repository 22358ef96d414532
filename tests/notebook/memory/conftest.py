"""The shell of these tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.notebook.memory.measured_shell import SETUP
from tests.notebook.shell import fresh_shell

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    with fresh_shell(setup=SETUP) as shell:
        yield shell
