"""Checks that Paddle is installed and can be traced. If not, the error gives the reason."""

from __future__ import annotations

import importlib
import importlib.util
import re
from types import ModuleType

from paddle_lab.words import say

OLDEST_PADDLE = (3, 3)


class PaddleUnavailableError(ImportError):
    """Paddle is missing, too old, or fails to import. The message says what to install."""


def require_paddle() -> ModuleType:
    """Import Paddle and check its version.

    Raises
    ------
    PaddleUnavailableError
        If Paddle is not installed, cannot be imported, or is older than 3.3.
    """
    if importlib.util.find_spec("paddle") is None:
        raise PaddleUnavailableError(say("errors.paddle.missing"))
    try:
        paddle = importlib.import_module("paddle")
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise PaddleUnavailableError(say("errors.paddle.broken", error=told)) from error
    version = str(getattr(paddle, "__version__", "0"))
    if is_too_old(version):
        raise PaddleUnavailableError(say("errors.paddle.old", version=version))
    return paddle


def is_too_old(version: str) -> bool:
    """Tell whether a release is older than 3.3; development builds (``0.0.0``) count as new."""
    numbers = [int(part) for part in re.findall(r"\d+", version)[:2]]
    return numbers != [0, 0] and tuple(numbers) < OLDEST_PADDLE
