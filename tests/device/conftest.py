"""Tests of what only a machine with a device can show; elsewhere they are skipped.

``python -m pytest tests/device`` on a machine with a GPU and a Paddle built for it proves all of it
in one run. ``PADDLE_LAB_TEST_DEVICE`` names another device: ``gpu:1``, ``xpu:0``, ``npu:0``; with
``cpu`` runs what holds on the host as well, to see that the tests themselves do.
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
