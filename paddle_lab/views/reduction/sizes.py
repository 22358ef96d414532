"""How large copies are, guessed while one is sought that fits."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from paddle_lab.trace.pack import column_bytes
from paddle_lab.trace.record import Record

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Sizes:
    """About how many bytes records take; what they share is compressed once."""

    def __init__(self) -> None:
        # Each array is kept, so that its id stays its own.
        self._of_column: dict[int, tuple[npt.NDArray[Any], int]] = {}
        self._of_strings: tuple[list[str], int] = ([], 0)

    def of(self, record: Record) -> int:
        """Return the bytes of a record, compressed fast."""
        if record.strings is not self._of_strings[0]:
            text = "\0".join(record.strings).encode("utf-8", "replace")
            self._of_strings = record.strings, len(zlib.compress(text, 1))
        columns = (c for table in record.tables.values() for c in table.columns.values())
        return self._of_strings[1] + sum(map(self._column, columns))

    def _column(self, column: npt.NDArray[np.generic]) -> int:
        known = self._of_column.get(id(column))
        if known is None:
            known = column, len(zlib.compress(column_bytes(column), 1))
            self._of_column[id(column)] = known
        return known[1]
