"""The base class of collectors, which collect evidence while a trace is open; also CUDA errors."""

from __future__ import annotations

from typing import Any, NamedTuple

from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.table import StringPool, TableBuilder


class Forgotten(NamedTuple):
    """Keys of rows that a trace dropped, because more ops ran than it may keep."""

    ops: frozenset[int]
    tensors: frozenset[int]
    grad_nodes: frozenset[int]
    backward_calls: frozenset[int]


class Collector:
    """Evidence of one kind, for one trace. A collector overrides the methods that it needs."""

    def open(self) -> None:
        """Start collecting, before the hooks are installed."""

    def close(self) -> None:
        """Stop collecting, after the hooks were removed. Later calls do nothing."""

    def forget(self, gone: Forgotten) -> None:
        """Forget the evidence about rows that the trace does not keep."""

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
