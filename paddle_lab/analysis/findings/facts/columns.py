"""Columns of a record as look-ups, and walks over what they lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from paddle_lab.analysis.graph.trees import csr
from paddle_lab.trace.record import Record

if TYPE_CHECKING:
    import numpy.typing as npt

Entry = Callable[[int], int]
"""From a row to what stands there."""
Rows = Callable[[int], list[int]]
"""From a row to the rows that belong to it, in order."""


class RecordColumns:
    """A record with answer tables, and its columns as look-ups.

    Parameters
    ----------
    record
        As :func:`paddle_lab.analysis.answers.with_answers` returns it.
    """

    def __init__(self, record: Record) -> None:
        self.record = record

    def entry(self, table: str, column: str) -> Entry:
        """Return a look-up in a column: in a list, one entry costs a tenth of an array's."""
        entries: list[int] = self.record.tables[table][column].tolist()
        return entries.__getitem__

    def text_entry(self, table: str, column: str) -> Callable[[int], str]:
        """Return a look-up in a column of texts."""
        codes = self.record.tables[table][column].tolist()
        return [self.record.strings[code] for code in codes].__getitem__

    def codes(self, matches: Callable[[str], bool]) -> list[int]:
        """Return the codes of the record's texts that match."""
        return [code for code, text in enumerate(self.record.strings) if matches(text)]


def rows_by(keys: npt.NDArray[Any], values: npt.NDArray[Any], key_count: int) -> Rows:
    """Return a look-up from a key to its values, in order; a key of -1 has none."""
    starts, order = csr(keys, key_count)
    begin, all_values = starts.tolist(), values[order].tolist()
    return lambda key: all_values[begin[key] : begin[key + 1]]


def walk(starts: Iterable[int], onward: Callable[[int], Iterable[int]]) -> Iterator[int]:
    """Yield the starts and all that they lead to, each once, the nearest first."""
    queue = list(dict.fromkeys(starts))
    seen = set(queue)
    for row in queue:
        yield row
        for one in onward(row):
            if one not in seen:
                seen.add(one)
                queue.append(one)
