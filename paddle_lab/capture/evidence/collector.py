"""The base class of collectors. A collector records evidence that only some checks need."""

from __future__ import annotations

from typing import NamedTuple

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
        """Start to collect, before the hooks are installed."""

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
