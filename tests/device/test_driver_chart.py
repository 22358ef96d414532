"""With an NVIDIA driver, whatever Paddle is built for: the live chart shows the driver's memory."""

from __future__ import annotations

import shutil
from typing import Any, Final

import pytest

from tests.notebook.chart_messages import ChartMessages

_MIB: Final = 1 << 20
_ALLOCATED_BYTES: Final = 1024 * _MIB
_SLACK_BYTES: Final = 16 * _MIB
"""Others on the machine may allocate a little meanwhile."""
_CELL: Final = f"""import ctypes, subprocess, time
cuda = ctypes.CDLL("libcuda.so.1")
device, context, address = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
assert not cuda.cuInit(0)
assert not cuda.cuDeviceGet(ctypes.byref(device), 0)
assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
assert not cuda.cuCtxSetCurrent(context)
assert not cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t({_ALLOCATED_BYTES}))
time.sleep(1)
query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0"]
print("COUNTED", subprocess.check_output(query, text=True))
time.sleep(1)"""


@pytest.mark.skipif(not shutil.which("nvidia-smi"), reason="this machine has no NVIDIA driver")
def test_the_chart_shows_the_drivers_counter(kernel: Any) -> None:
    kernel.execute("%load_ext paddle_lab\n%paddle_mem")
    chart = ChartMessages(kernel)
    before = chart.until(lambda told: isinstance(told.get("nvidia:0 used"), int))["nvidia:0 used"]
    kernel.execute(_CELL)
    told = chart.until(lambda _: "COUNTED" in chart.printed)
    used = told["nvidia:0 used"]
    counted_bytes = int(chart.printed.split("COUNTED")[1]) * _MIB
    assert isinstance(used, int), used
    assert abs(used - counted_bytes) <= _SLACK_BYTES
    assert used - int(before) >= _ALLOCATED_BYTES
