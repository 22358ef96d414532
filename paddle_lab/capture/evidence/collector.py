"""What collects evidence that only some checks need."""

from __future__ import annotations

from typing import Protocol

from paddle_lab.trace.table import StringPool, TableBuilder


class Collector(Protocol):
    """Evidence of one kind, for one trace."""

    def open(self) -> None:
        """Begin, before the hooks are installed."""

    def close(self) -> None:
        """End, when the hooks are gone; whatever is called from now on does nothing."""

    def add_rows(
        self, builders: dict[str, TableBuilder], strings: StringPool, op_keys: dict[int, int]
    ) -> None:
        """Fill the collector's tables.

        Parameters
        ----------
        op_keys
            Keys of ops while the trace ran to rows of ``ops``; -1 and missing ones are no row.
        """
