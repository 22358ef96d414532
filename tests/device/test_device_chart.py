"""On a device: the live chart shows what Paddle and the driver count."""

from __future__ import annotations

from typing import Any, Final

from tests.device.counted_device import CountedDevice
from tests.notebook.chart_messages import ChartMessages

_CELL: Final = """import paddle, time
from paddle.base import core
paddle.device.set_device({device!r})
network = paddle.vision.models.resnet18()
for _ in range(3):
    network(paddle.rand([2, 3, 64, 64])).mean().backward()
time.sleep(0.5)
print("COUNTED", core.{side}_memory_stat_current_value("Allocated", {index}))
time.sleep(0.5)"""


def test_the_chart_shows_paddles_counter(device: CountedDevice, kernel: Any) -> None:
    kind, _, index = device.name.partition(":")
    side = "host" if kind == "cpu" else "device"
    kernel.execute("%load_ext paddle_lab\n%paddle_mem")
    kernel.execute(_CELL.format(device=device.name, side=side, index=index or 0))
    chart = ChartMessages(kernel)
    name = f"{device.name} allocated"
    told = chart.until(lambda told: "COUNTED" in chart.printed and told.get(name))
    counted = int(chart.printed.split("COUNTED")[1].split()[0])
    assert told[name] == counted
    assert told[f"{device.name} reserved"] >= counted
    if kind == "gpu" and "nvidia:0 used" in told:
        used = told[f"nvidia:{index} used"]
        assert isinstance(used, int), used
        # All of the process's, and its context besides.
        assert used >= told[f"{device.name} reserved"]
