"""The values that a record keeps, as tables of a file: their bytes in words of 64 bits."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record, TraceFileError
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.words import say

MOST_BYTES: Final = 256 << 20
"""If there are more bytes of values than this, a file has none of them."""
_DTYPE = re.compile(r"[<|](b1|[iu][1248]|f[248]|c8|c16)")


def with_value_tables(record: Record) -> Record:
    """Return the record that a file stores, with its kept values as tables."""
    kept = record.kept_values
    size_bytes = sum(array.nbytes for array in kept.values())
    if not kept:
        return record
    if size_bytes > MOST_BYTES:
        notice = say("notices.values.not_saved", size=size_bytes, most=MOST_BYTES)
        origin = replace(record.origin, notices=[*record.origin.notices, notice])
        return Record(record.tables, record.strings, origin)
    strings = StringPool(record.strings)
    arrays = [array.astype(array.dtype.newbyteorder("<")) for array in kept.values()]
    columns: dict[str, Any] = {
        "tensor": [*kept],
        "dtype": strings.codes(array.dtype.str for array in arrays),
        "shape": strings.codes(str([*array.shape]) for array in arrays),
    }
    words = np.frombuffer(b"".join(map(_padded, arrays)), np.int64)
    tables = {
        "kept_values": Table.from_sequences(RECORD_TABLES["kept_values"], columns),
        "kept_words": Table({"word": words}),
    }
    return Record({**record.tables, **tables}, strings.to_list(), record.origin)


def take_value_tables(record: Record) -> None:
    """Make the kept values of a record from its tables, and empty these tables.

    Raises
    ------
    TraceFileError
        If the tables contradict each other.
    """
    table, words = record.tables["kept_values"], record.kept_words["word"]
    at = 0
    for tensor, dtype, shape in zip(*(table[name].tolist() for name in table.columns), strict=True):
        kind = record.text(dtype)
        extents = [int(size) for size in re.findall(r"\d+", record.text(shape))]
        if not _DTYPE.fullmatch(kind):
            raise TraceFileError(say("errors.file.damaged"))
        size_bytes = math.prod(extents) * np.dtype(kind).itemsize
        end = at + -(-size_bytes // 8)
        if end > len(words):
            raise TraceFileError(say("errors.file.damaged"))
        stored = np.frombuffer(words[at:end].tobytes()[:size_bytes], kind)
        try:
            record.kept_values[tensor] = stored.reshape(extents)
        except (ValueError, OverflowError):  # such as 2**64 beside 0
            raise TraceFileError(say("errors.file.damaged")) from None
        at = end
    for name in ("kept_values", "kept_words"):
        record.tables[name] = Table.empty(RECORD_TABLES[name])


def _padded(array: npt.NDArray[Any]) -> bytes:
    data = array.tobytes()
    return data + bytes(-len(data) % 8)
