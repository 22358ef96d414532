"""Tests that need a machine with a device; on other machines they are skipped.

``python -m pytest tests/device`` on a machine with a GPU and a matching Paddle runs all of them.
``PADDLE_LAB_TEST_DEVICE`` names another device: ``gpu:1``, ``xpu:0``, ``npu:0``. With ``cpu``, the
tests that also work on the host run, so that the tests themselves can be checked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.device.counted_device import CountedDevice


@pytest.fixture
def device() -> Iterator[CountedDevice]:
    paddle = pytest.importorskip("paddle")
    device = CountedDevice(os.environ.get("PADDLE_LAB_TEST_DEVICE", "gpu:0"))
    if not device.is_there:
        pytest.skip(f"this machine or its Paddle has no {device.name}")
    before = paddle.device.get_device()
    paddle.device.set_device(device.name)
    yield device
    paddle.device.set_device(before)


@pytest.fixture
def gpu(device: CountedDevice) -> CountedDevice:
    if device.kind != "gpu":
        pytest.skip(f"{device.name} is no GPU")
    return device
