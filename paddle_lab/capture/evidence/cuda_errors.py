"""Waits for the GPU after every op, so that a CUDA error is raised at the op that caused it."""

from __future__ import annotations

from typing import Any

from paddle_lab.capture.evidence.collector import Collector

_FLAG = "FLAGS_check_cuda_error"


class CudaErrors(Collector):
    """The collector that sets ``FLAGS_check_cuda_error``; the error itself is the evidence.

    Parameters
    ----------
    paddle
        The paddle module, of a build with CUDA.
    """

    def __init__(self, paddle: Any) -> None:
        self._paddle = paddle
        self._before: Any = None

    def open(self) -> None:
        """Wait and check from now on, around every op and every grad node."""
        self._before = self._paddle.get_flags(_FLAG)[_FLAG]
        self._paddle.set_flags({_FLAG: True})

    def close(self) -> None:
        """Restore the flag."""
        if self._before is not None:
            self._paddle.set_flags({_FLAG: self._before})
            self._before = None
