"""A stand-in for the module ``pynvml``, for machines without an NVIDIA driver.

It answers as the driver does, with ``pynvml``'s own errors; no device is behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import pynvml

GIB = 1 << 30


@dataclass
class StandInNvml:
    """Devices by their memory in use; a number in ``failing`` answers with that error."""

    used_bytes: list[int]
    utilisation: list[int] = field(default_factory=list)
    failing: dict[int, int] = field(default_factory=dict)
    """Device to a code of NVML, such as ``pynvml.NVML_ERROR_GPU_IS_LOST``."""
    failing_utilisation: dict[int, int] = field(default_factory=dict)
    failing_start: int = 0
    reserved_bytes: int = 600 << 20
    """What the driver keeps for itself; NVML's first version counts it as used."""
    is_old: bool = False
    """A driver before 510, which has the first version alone."""
    nvmlMemory_v2: int = pynvml.nvmlMemory_v2
    asked: int = 0

    def nvmlInit(self):
        if self.failing_start:
            raise pynvml.NVMLError(self.failing_start)

    def nvmlDeviceGetCount(self):
        return len(self.used_bytes)

    def nvmlDeviceGetHandleByIndex(self, index):
        if index in self.failing:
            raise pynvml.NVMLError(self.failing[index])
        return index

    def nvmlDeviceGetMemoryInfo(self, handle, version=None):
        self.asked += 1
        if version is not None and self.is_old:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
        counted = 0 if version == self.nvmlMemory_v2 else self.reserved_bytes
        return SimpleNamespace(used=self.used_bytes[handle] + counted, total=80 * GIB)

    def nvmlDeviceGetUtilizationRates(self, handle):
        if handle in self.failing_utilisation:
            raise pynvml.NVMLError(self.failing_utilisation[handle])
        return SimpleNamespace(gpu=self.utilisation[handle] if self.utilisation else 50, memory=0)
