"""Is there a Paddle this package can capture? One clear sentence where there is not."""

from __future__ import annotations

import importlib
import importlib.util
import re
from types import ModuleType

OLDEST_PADDLE = (3, 3)


class PaddleUnavailableError(ImportError):
    """Paddle is missing, too old, or fails to import; the message says what to install."""


def require_paddle() -> ModuleType:
    """Import Paddle and check its version.

    Raises
    ------
    PaddleUnavailableError
        If Paddle is not installed, cannot be imported, or is older than 3.3.
    """
    if importlib.util.find_spec("paddle") is None:
        raise PaddleUnavailableError(
            "Recording a trace needs PaddlePaddle, which is not installed here: "
            "run `pip install paddlepaddle` (or paddlepaddle-gpu from Paddle's own index). "
            "Opening saved traces works without it."
        )
    try:
        paddle = importlib.import_module("paddle")
    except Exception as error:
        raise PaddleUnavailableError(
            f"PaddlePaddle is installed but cannot be imported ({type(error).__name__}: {error}); "
            "reinstall it, then try again."
        ) from error
    version = str(getattr(paddle, "__version__", "0"))
    if is_too_old(version):
        raise PaddleUnavailableError(
            f"Recording a trace needs PaddlePaddle 3.3 or newer, and this is {version}, which "
            "lacks the grad-node access it needs: run `pip install -U paddlepaddle`."
        )
    return paddle


def is_too_old(version: str) -> bool:
    """Tell whether a release is older than 3.3; development builds (``0.0.0``) count as new."""
    numbers = [int(part) for part in re.findall(r"\d+", version)[:2]]
    return numbers != [0, 0] and tuple(numbers) < OLDEST_PADDLE
