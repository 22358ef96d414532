"""The live chart's messages, as a kernel sends them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

_LIMIT_S: Final = 60

Told = dict[str, int | str]
"""A counter's newest value, or why it has none; by device and name."""


class ChartMessages:
    """Reads batches, and keeps what cells print meanwhile.

    Parameters
    ----------
    client
        Of the kernel.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._counters: list[dict[str, Any]] = []
        self.batches = 0
        self.printed = ""

    def until(self, is_so: Callable[[Told], object]) -> Told:
        """Read batches until they fulfil a condition."""
        told: Told = {}
        for _ in range(100 * _LIMIT_S):
            told = self._next()
            if is_so(told):
                return told
        raise AssertionError(f"still {told}")

    def _next(self) -> Told:
        while True:
            message = self._client.get_iopub_msg(timeout=_LIMIT_S)
            content = message["content"]
            assert message["msg_type"] != "error", content
            if message["msg_type"] == "stream":
                self.printed += content["text"]
            batch = content.get("data", {}).get("content", {})
            if message["msg_type"] == "comm_msg" and batch.get("kind") in ("batch", "history"):
                return self._told(batch, message["buffers"])

    def _told(self, batch: dict[str, Any], buffers: list[Any]) -> Told:
        self.batches += 1
        # All to a page that opens, and as often as they change.
        self._counters = batch.get("counters", self._counters)
        if not self._counters:
            return {}
        rows = np.frombuffer(buffers[0], "<f8").reshape(batch["rows"][0], -1)
        values = rows[-1, 1:].astype(int).tolist() if len(rows) else [-1] * len(self._counters)
        return {
            f"{each['device']} {each['name']}": each["absence"] or value
            for each, value in zip(self._counters, values, strict=True)
        }
