"""Fills every new block of memory with one byte.

An op that does not write all of its output returns what was in memory before. Such ops are found by
two runs whose new blocks are filled with different bytes.

Paddle can fill blocks on devices (``FLAGS_alloc_fill_value``), but not on the CPU. There the blocks
come from the C library. glibc can fill them: ``M_PERTURB`` of ``mallopt(3)`` fills new blocks with
the complement of a byte.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paddle_lab.capture.hooks.hooks import HOOKS

BYTES = (0x00, 0x7F)
"""As floats these bytes are 0 and 3e38: two different numbers, neither of which raises an error."""

_FLAG = "FLAGS_alloc_fill_value"
_M_PERTURB = -6
_PROBED_BYTES = (64, 4096, 1 << 22)


@contextmanager
def filled(paddle: Any, byte: int) -> Iterator[None]:
    """Fill every block of memory that is allocated while a ``with`` block runs."""
    flag = flag_value(paddle, _FLAG)
    perturb = _perturb()
    try:
        if perturb is not None:
            perturb(_M_PERTURB, byte ^ 0xFF)
        if flag is not None:
            paddle.set_flags({_FLAG: byte})
        yield
    finally:
        if perturb is not None:
            perturb(_M_PERTURB, int(os.environ.get("MALLOC_PERTURB_") or 0))
        if flag is not None:
            paddle.set_flags({_FLAG: flag})


def is_filled(paddle: Any) -> bool:
    """Tell whether new blocks on the current device are in fact filled with the byte."""
    byte = BYTES[1]
    with HOOKS.suspended(), filled(paddle, byte):
        return all(
            bool((paddle.empty([size], dtype="uint8").numpy() == byte).all())
            for size in _PROBED_BYTES
        )


def flag_value(paddle: Any, name: str) -> Any:
    """Return the value of one of Paddle's flags; ``None`` if this build does not have it."""
    try:
        return paddle.get_flags(name)[name]
    except ValueError:  # such as the flags of cuDNN in CPU builds
        return None


def _perturb() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    # The C library musl has no mallopt.
    return getattr(ctypes.CDLL(None), "mallopt", None)
