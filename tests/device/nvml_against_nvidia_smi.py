"""Compares NVML's counters with ``nvidia-smi``, and with memory that this script allocates.

``python tests/device/nvml_against_nvidia_smi.py`` needs the driver, ``nvidia-smi`` and ``pynvml``,
but neither Paddle nor NumPy. It exits with 1 if a figure differs.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
SLACK_BYTES = 16 * MIB
"""Others on the machine may allocate a little meanwhile."""
QUERY = ["--query-gpu=memory.used,memory.total", "--format=csv,noheader,nounits"]
WAIT_S = 30


def nvml_counters() -> Any:
    """Return the counters, without what the package imports beside them."""
    package = ModuleType("paddle_lab")
    package.__path__ = [str(ROOT / "paddle_lab")]
    sys.modules["paddle_lab"] = package
    from paddle_lab.sampling.nvml import NvmlCounters

    return NvmlCounters()


def read(counters: Any, least_ns: int) -> list[int]:
    """Return the values that the driver reports after a moment."""
    begin_s = time.monotonic()
    while time.monotonic() - begin_s < WAIT_S:
        values = list(counters.read(time.perf_counter_ns()))
        if max(values, default=-1) >= 0 and time.perf_counter_ns() > least_ns:
            return values
        time.sleep(0.05)
    raise SystemExit(f"no device told anything: {counters.counters()}")


def compare(counters: Any) -> bool:
    """Return whether memory in use and total are those of ``nvidia-smi``."""
    # After two rounds of questions, none of the answers is old.
    values = read(counters, time.perf_counter_ns() + 500_000_000)
    lines = subprocess.run(["nvidia-smi", *QUERY], capture_output=True, text=True, check=True)
    limits = [counter.limit for counter in counters.counters()[::2]]
    is_same = True
    for index, line in enumerate(lines.stdout.splitlines()):
        used_mib, total_mib = map(int, line.split(","))
        used, percent, limit = values[2 * index], values[2 * index + 1], limits[index]
        is_close = abs(used - used_mib * MIB) <= SLACK_BYTES and abs(limit - total_mib * MIB) <= MIB
        print(  # noqa: T201
            f"device {index}: {used / MIB:.1f} of {limit / MIB:.1f} MiB, {percent} % in use; "
            f"nvidia-smi: {used_mib} of {total_mib} MiB: {'same' if is_close else 'DIFFERENT'}"
        )
        is_same &= is_close
    return is_same and 2 * len(lines.stdout.splitlines()) == len(values)


def allocate(counters: Any, size_bytes: int) -> bool:
    """Return whether memory that the CUDA driver allocates is seen, and its release."""
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context, address = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    made = (
        cuda.cuInit(0)
        or cuda.cuDeviceGet(ctypes.byref(device), 0)
        or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        or cuda.cuCtxSetCurrent(context)
    )
    if made:
        print(f"CUDA error {made}: nothing was allocated")  # noqa: T201
        return False
    soon_ns = 500_000_000
    before = read(counters, time.perf_counter_ns() + soon_ns)[0]
    cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size_bytes))
    during = read(counters, time.perf_counter_ns() + soon_ns)[0]
    cuda.cuMemFree_v2(address)
    after = read(counters, time.perf_counter_ns() + soon_ns)[0]
    print(  # noqa: T201
        f"{size_bytes:,} bytes allocated: {during - before:+,}; freed: {after - during:+,}"
    )
    seen, gone = during - before - size_bytes, after - during + size_bytes
    return abs(seen) <= SLACK_BYTES and abs(gone) <= SLACK_BYTES


def main() -> None:
    """Compare, allocate, compare again."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mib", type=int, default=1024, help="MiB to allocate; 0 for none")
    size_bytes = parser.parse_args().mib * MIB
    sys.path.insert(0, str(ROOT))
    counters = nvml_counters()
    is_same = compare(counters)
    if size_bytes:
        is_same &= allocate(counters, size_bytes)
        is_same &= compare(counters)
    counters.close()
    sys.exit(0 if is_same else 1)


if __name__ == "__main__":
    main()
