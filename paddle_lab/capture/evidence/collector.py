"""What collects evidence that only some checks need."""

from __future__ import annotations

from typing import NamedTuple

from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.table import StringPool, TableBuilder


class Forgotten(NamedTuple):
    """Keys of rows that a trace does not keep, since more ops ran than it may have."""

    ops: frozenset[int]
    tensors: frozenset[int]
    grad_nodes: frozenset[int]
    backward_calls: frozenset[int]


class Collector:
    """Evidence of one kind, for one trace; what a collector does not need does nothing."""

    def open(self) -> None:
        """Begin, before the hooks are installed."""

    def close(self) -> None:
        """End, when the hooks are gone; whatever is called from now on does nothing."""

    def forget(self, gone: Forgotten) -> None:
        """Forget what was seen of rows that the trace does not keep."""

    def add_rows(
        self, builders: dict[str, TableBuilder], strings: StringPool, keys: RecordKeys
    ) -> None:
        """Fill the collector's tables.

        Parameters
        ----------
        keys
            From the keys that were given while the trace ran to rows of the record.
        """
