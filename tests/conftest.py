"""What all tests share: generated examples that are not timed, and a kernel of a test's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from jupyter_client.manager import start_new_kernel

# No test is timed. A busy machine is slow to generate an example, and that is no failure.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture
def kernel() -> Iterator[Any]:
    manager, client = start_new_kernel()
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
