"""Collects a rank's set-up: environment variables, device, backend, versions."""

from __future__ import annotations

import os
import platform
import socket
from contextlib import suppress
from typing import Any, Final

from paddle_lab.capture.availability import require_paddle
from paddle_lab.version import __version__

_CONNECT_S: Final = 0.2
_SELECTED_GPUS: Final = "FLAGS_selected_gpus"
"""Paddle's launcher gives each rank its GPU in this variable."""


def rank_setup() -> dict[str, Any]:
    """Return what :func:`paddle_lab.runs.setup.setup_findings` compares between ranks.

    Raises
    ------
    PaddleUnavailableError
        If there is no Paddle that can be traced.
    """
    paddle = require_paddle()
    values = os.environ
    endpoint = values.get("PADDLE_CURRENT_ENDPOINT", "")
    is_started = bool(paddle.distributed.is_initialized())
    # Before the ranks connect, the program may not have chosen a device yet.
    device = str(paddle.device.get_device()) if is_started else ""
    return {
        "rank": values.get("PADDLE_TRAINER_ID", "0"),
        "world": values.get("PADDLE_TRAINERS_NUM", "1"),
        "endpoints": [one for one in values.get("PADDLE_TRAINER_ENDPOINTS", "").split(",") if one],
        "endpoint": endpoint,
        "host": socket.gethostname(),
        "device": device,
        "gpu": _gpu(device),
        "backend": values.get("PADDLE_DISTRI_BACKEND", ""),
        "is_port_taken": not is_started and _is_taken(endpoint),
        "paddle": str(paddle.__version__),
        "python": platform.python_version(),
        "paddle_lab": __version__,
    }


def _gpu(device: str) -> str:
    """Return the id of a rank's GPU among all GPUs of the machine; ``""`` without a GPU."""
    kind, _, number = device.partition(":")
    if kind != "gpu":
        return ""
    visible = [one for one in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if one]
    chosen = os.environ.get(_SELECTED_GPUS, "") or number or "0"
    if chosen.isdigit() and int(chosen) < len(visible):
        return visible[int(chosen)]
    return chosen


def _is_taken(endpoint: str) -> bool:
    """Tell whether a program listens at this rank's own endpoint."""
    host, _, port = endpoint.rpartition(":")
    if not host or not port.isdigit():
        return False
    with suppress(OSError, OverflowError), socket.create_connection((host, int(port)), _CONNECT_S):
        return True
    return False


def gathered_setups() -> dict[int, dict[str, Any]]:
    """Return the set-ups of all ranks; of this rank alone, if the ranks are not connected yet."""
    paddle, own = require_paddle(), rank_setup()
    if not paddle.distributed.is_initialized():
        return {int(own["rank"]) if own["rank"].isdigit() else 0: own}
    setups: list[dict[str, Any]] = []
    paddle.distributed.all_gather_object(setups, own)
    return dict(enumerate(setups))


def has_gpu() -> bool:
    """Tell whether Paddle would run on a GPU in this process."""
    return str(require_paddle().device.get_device()).startswith("gpu")
