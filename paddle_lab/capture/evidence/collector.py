"""Collectors record evidence during a trace. This is their base class, and one for CUDA errors."""

from __future__ import annotations

from typing import Any, NamedTuple

from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.table import StringPool, TableBuilder


class Forgotten(NamedTuple):
    """The keys of rows that a trace has dropped, because more ops ran than its limit."""

    ops: frozenset[int]
    tensors: frozenset[int]
    grad_nodes: frozenset[int]
    backward_calls: frozenset[int]


class Collector:
    """Records evidence of one kind for a trace. Subclasses override the methods that they need."""

    def open(self) -> None:
        """Start recording, before the hooks are installed."""

    def close(self) -> None:
        """Stop recording, after the hooks were removed. Further calls do nothing."""

    def forget(self, gone: Forgotten) -> None:
        """Drop the evidence about rows that the trace does not keep."""

    def add_rows(
        self, builders: dict[str, TableBuilder], strings: StringPool, keys: RecordKeys
    ) -> None:
        """Fill the collector's tables.

        Parameters
        ----------
        keys
            Maps keys of the running trace to rows of the record.
        """


_FLAG = "FLAGS_check_cuda_error"


class CudaErrors(Collector):
    """Sets ``FLAGS_check_cuda_error``, so that the op that causes a CUDA error raises it.

    Parameters
    ----------
    paddle
        The paddle module, of a build with CUDA.
    """

    def __init__(self, paddle: Any) -> None:
        self._paddle = paddle
        self._before: Any = None

    def open(self) -> None:
        """Make Paddle wait for the device and check for errors around every op and grad node."""
        self._before = self._paddle.get_flags(_FLAG)[_FLAG]
        self._paddle.set_flags({_FLAG: True})

    def close(self) -> None:
        """Restore the flag."""
        if self._before is not None:
            self._paddle.set_flags({_FLAG: self._before})
            self._before = None
