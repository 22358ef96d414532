"""A kernel of its own for a test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel


@pytest.fixture
def kernel() -> Iterator[Any]:
    manager, client = start_new_kernel()
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
