"""Memory that is not what it was: every new block filled with one byte.

An op that leaves a part of its output unwritten hands on what lay in memory. Two runs whose blocks
begin with different bytes tell such ops from all others.

Paddle fills blocks on devices (``FLAGS_alloc_fill_value``); on the host it does not. There the
blocks come from the C library, and glibc has an aid of its own for this: ``M_PERTURB`` of
``mallopt(3)``, which sets new blocks to the complement of a byte.
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
"""As floats they are 0 and 3e38: a difference in each, and neither raises."""

_FLAG = "FLAGS_alloc_fill_value"
_M_PERTURB = -6
_PROBED_BYTES = (64, 4096, 1 << 22)


@contextmanager
def filled(paddle: Any, byte: int) -> Iterator[None]:
    """Fill every block that is allocated in a ``with`` block."""
    flag = _flag(paddle)
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
    """Tell whether new blocks on the present device do begin with the byte."""
    byte = BYTES[1]
    with HOOKS.suspended(), filled(paddle, byte):
        return all(
            bool((paddle.empty([size], dtype="uint8").numpy() == byte).all())
            for size in _PROBED_BYTES
        )


def _flag(paddle: Any) -> int | None:
    try:
        value: int = paddle.get_flags(_FLAG)[_FLAG]
    except ValueError:  # a Paddle that has none
        return None
    return value


def _perturb() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    # musl has no mallopt.
    return getattr(ctypes.CDLL(None), "mallopt", None)
