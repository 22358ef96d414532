"""A device and Paddle's own counters of its memory, read directly from C++."""

from __future__ import annotations

import paddle
from paddle.base import core


class CountedDevice:
    """Reads the counters of one device.

    Parameters
    ----------
    name
        ``"gpu:0"``, ``"cpu"``.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.kind, _, number = name.partition(":")
        self._index = int(number or 0)
        self._side = "host" if self.kind == "cpu" else "device"

    @property
    def is_there(self) -> bool:
        """Whether Paddle can use the device."""
        if self.kind == "gpu":
            return paddle.is_compiled_with_cuda() and (
                self._index < paddle.device.cuda.device_count()
            )
        if self.kind == "xpu":
            return paddle.is_compiled_with_xpu() and self._index < core.get_xpu_device_count()
        kinds = paddle.device.get_all_custom_device_type() or []
        return self.kind in ("cpu", *kinds)

    @property
    def allocated_bytes(self) -> int:
        """The bytes that are allocated now."""
        return self._read("current_value", "Allocated")

    @property
    def reserved_bytes(self) -> int:
        """What Paddle holds now."""
        return self._read("current_value", "Reserved")

    @property
    def peak_bytes(self) -> int:
        """The most bytes that were allocated since :meth:`reset_peak`."""
        return self._read("peak_value", "Allocated")

    def reset_peak(self) -> None:
        """Reset the peak to the bytes that are allocated now."""
        self._read("reset_peak_value", "Allocated")

    def _read(self, method: str, counter: str) -> int:
        value: int = getattr(core, f"{self._side}_memory_stat_{method}")(counter, self._index)
        return value
