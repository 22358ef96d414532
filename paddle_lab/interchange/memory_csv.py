"""The blocks that were alive at a moment, as comma-separated values."""

from __future__ import annotations

import csv
import io

import numpy as np

from paddle_lab.analysis.memory.breakdown import UNSEEN
from paddle_lab.analysis.memory.place import PlaceMemory

COLUMNS = (
    "bytes", "kind", "op", "op_name", "layer", "file", "line", "function", "cell", "phase",
    "tensor", "shape", "dtype", "start_ns", "end_ns", "address", "place",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def memory_csv(memory: PlaceMemory, *, time_ns: int | None = None) -> str:
    """Return a line of column names, and a line for each block that was alive, largest first.

    For memory from before the trace that was not used in it, only the sum is known. It is the last
    line, so the sizes add up to the allocated memory.

    An unknown value is empty. Text that a spreadsheet would read as a formula gets a leading
    apostrophe, because a trace may come from another person.

    Parameters
    ----------
    memory
        Memory of a place.
    time_ns
        The moment; the peak by default.
    """
    columns = memory.alive_at(time_ns).columns()
    columns["tensor"] = np.where(columns["path"] != "", columns["path"], columns["tensor"])
    columns["line"] = np.where(columns["line"] == 0, -1, columns["line"])
    cells = {name: [_cell(value) for value in columns[name].tolist()] for name in COLUMNS}
    cells["address"] = [hex(address) for address in columns["address"].tolist()]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(zip(*cells.values(), strict=True))
    if memory.unseen_bytes:
        row = {"bytes": memory.unseen_bytes, "kind": UNSEEN, "place": memory.place}
        writer.writerow(row.get(column, "") for column in COLUMNS)
    return text.getvalue()


def _cell(value: str | int) -> str | int:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return value if value >= 0 else ""
