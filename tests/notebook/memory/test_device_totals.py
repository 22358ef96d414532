"""``%paddle_mem`` in a real kernel with a stand-in NVIDIA driver: the messages to the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from jupyter_client.manager import start_new_kernel

from tests.notebook.chart_messages import ChartMessages
from tests.sampling.stand_in_driver import GIB, StandInDriver

_CHART: Final = """%load_ext paddle_lab
%paddle_mem"""
# This cell runs until the test has seen what it waits for.
_BUSY: Final = """import os, time, paddle
begin, x = time.monotonic(), paddle.rand([256, 256])
while not os.path.exists({seen!r}) and time.monotonic() - begin < 60:
    y = x @ x"""


@pytest.fixture
def driver(tmp_path: Path) -> StandInDriver:
    driver = StandInDriver(tmp_path)
    driver.answer(devices=2)
    driver.device(0, used_bytes=3 * GIB + 1, percent=97)
    driver.device(1, used_bytes=5)
    return driver


@pytest.fixture
def client(driver: StandInDriver, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A kernel that finds the stand-in."""
    for name, value in driver.environment.items():
        monkeypatch.setenv(name, value)
    manager, client = start_new_kernel()
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_devices_reach_the_page_while_paddle_runs(driver: StandInDriver, client: Any) -> None:
    seen = driver.directory / "seen"
    client.execute(_CHART)
    client.execute(_BUSY.format(seen=str(seen)))
    chart = ChartMessages(client)

    told = chart.until(lambda told: told.get("nvidia:1 used") == 5)
    assert told["nvidia:0 used"] == 3 * GIB + 1
    assert (told["nvidia:0 utilisation"], told["nvidia:1 utilisation"]) == (97, 0)

    driver.device(1, used_bytes=GIB - 1, percent=100)
    chart.until(lambda told: told["nvidia:1 used"] == GIB - 1)

    # The chart says that a driver no longer answers, and its other lines move on.
    driver.answer(hang=1)
    told = chart.until(lambda told: "has not answered" in str(told["nvidia:0 used"]))
    batches = chart.batches
    chart.until(lambda _: chart.batches > batches + 20)
    assert isinstance(told["process resident"], int)

    driver.answer(hang=0)
    told = chart.until(lambda told: told["nvidia:1 used"] == GIB - 1)
    assert told["nvidia:0 used"] == 3 * GIB + 1
    seen.touch()
