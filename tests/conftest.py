"""Settings and fixtures of all tests: no deadlines, a small heap, and a kernel for each test."""

from __future__ import annotations

import gc
import random
import signal
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from jupyter_client.manager import start_new_kernel

# No test is timed. A busy machine is slow to generate an example, and that is no failure.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def seed() -> None:
    """Give the program's random generators the same state in every run of the tests."""
    random.seed(0)
    np.random.seed(0)
    if paddle := sys.modules.get("paddle"):
        paddle.seed(0)


@pytest.fixture(scope="module", autouse=True)
def models_of_a_file_are_the_same_in_every_run() -> None:
    seed()


@pytest.fixture(autouse=True)
def a_test_is_the_same_in_every_run() -> None:
    seed()


@pytest.fixture(scope="module", autouse=True)
def objects_of_earlier_files_aside() -> None:
    """Keep what earlier test files left out of the collector's sight.

    Thousands of tests leave millions of objects. Without this, each collection and each search for
    a holder goes through all of them: some tests take ten times as long.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def interrupts_raise() -> Iterator[None]:
    """Let SIGINT raise here and in new processes. In a background job, Python leaves it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def kernel() -> Iterator[Any]:
    manager, client = start_new_kernel()
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
