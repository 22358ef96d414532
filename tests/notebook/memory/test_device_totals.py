"""``%paddle_mem`` in a real kernel whose NVIDIA driver is a stand-in: what reaches the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from jupyter_client.manager import start_new_kernel

from tests.sampling.stand_in_driver import GIB, StandInDriver

_LIMIT_S: Final = 60

_CHART: Final = """%load_ext paddle_lab
%paddle_mem"""
# Until the test has seen what it waits for.
_BUSY: Final = """import os, time, paddle
begin, x = time.monotonic(), paddle.rand([256, 256])
while not os.path.exists({seen!r}) and time.monotonic() - begin < 60:
    y = x @ x"""

_Told = dict[str, int | str]
"""A counter's newest value, or why it has none; by device and name."""


class _Chart:
    """The chart's messages, as they come from the kernel."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._counters: list[dict[str, Any]] = []
        self.batches = 0

    def until(self, is_so: Callable[[_Told], bool]) -> _Told:
        """Take batches until what they tell is so."""
        told: _Told = {}
        for _ in range(100 * _LIMIT_S):
            told = self._next()
            if is_so(told):
                return told
        raise AssertionError(f"still {told}")

    def _next(self) -> _Told:
        while True:
            message = self._client.get_iopub_msg(timeout=_LIMIT_S)
            assert message["msg_type"] != "error", message["content"]
            content = message["content"].get("data", {}).get("content", {})
            if message["msg_type"] == "comm_msg" and content.get("kind") == "batch":
                break
        self.batches += 1
        # A page that opens is told all; later the counters come as often as they change.
        self._counters = content.get("counters", self._counters)
        if not self._counters:
            return {}
        rows = np.frombuffer(message["buffers"][0], "<f8").reshape(content["rows"][0], -1)
        values = rows[-1, 1:].astype(int).tolist() if len(rows) else [-1] * len(self._counters)
        return {
            f"{each['device']} {each['name']}": each["absence"] or value
            for each, value in zip(self._counters, values, strict=True)
        }


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
    chart = _Chart(client)

    told = chart.until(lambda told: told.get("nvidia:1 used") == 5)
    assert told["nvidia:0 used"] == 3 * GIB + 1
    assert (told["nvidia:0 utilisation"], told["nvidia:1 utilisation"]) == (97, 0)

    driver.device(1, used_bytes=GIB - 1, percent=100)
    chart.until(lambda told: told["nvidia:1 used"] == GIB - 1)

    # A driver that does not answer any more is said to, and the rest of the chart moves on.
    driver.answer(hang=1)
    told = chart.until(lambda told: "has not answered" in str(told["nvidia:0 used"]))
    batches = chart.batches
    chart.until(lambda _: chart.batches > batches + 20)
    assert isinstance(told["process resident"], int)

    driver.answer(hang=0)
    told = chart.until(lambda told: told["nvidia:1 used"] == GIB - 1)
    assert told["nvidia:0 used"] == 3 * GIB + 1
    seen.touch()
