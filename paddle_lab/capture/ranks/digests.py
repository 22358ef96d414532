"""Checksums of tensors, to compare tensors between ranks."""

from __future__ import annotations

import sys
import zlib
from typing import Any

from paddle_lab.capture.evidence.values.memory import digest_at, memory_of
from paddle_lab.capture.hooks.hooks import HOOKS


def digest_of(tensor: Any) -> int:
    """Return a checksum of all values of a tensor."""
    memory = memory_of(tensor, most=sys.maxsize)
    if memory is not None:
        return digest_at(*memory)
    with HOOKS.suspended():
        return zlib.crc32(tensor.detach().numpy().tobytes())
