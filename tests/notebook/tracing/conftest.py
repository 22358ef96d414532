"""The shell of these tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.notebook.shell import fresh_shell

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

SETUP = "import paddle\nnet = paddle.nn.Linear(2, 2)\nx = paddle.ones([3, 2])"


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    with fresh_shell(setup=SETUP) as shell:
        yield shell
