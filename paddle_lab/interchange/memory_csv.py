"""The blocks that were alive at a moment, as comma-separated values."""

from __future__ import annotations

from paddle_lab.analysis.memory.breakdown import UNSEEN
from paddle_lab.analysis.memory.place import PlaceMemory
from paddle_lab.analysis.tables.columns import listed
from paddle_lab.analysis.tables.data_frames import csv_text

COLUMNS = (
    "bytes", "kind", "op", "op_name", "layer", "file", "line", "function", "cell", "phase",
    "tensor", "shape", "dtype", "start_ns", "end_ns", "address", "place",
)  # fmt: skip


def memory_csv(memory: PlaceMemory, *, time_ns: int | None = None) -> str:
    """Return a line of column names, and a line for each living block, the largest first.

    The last line is the sum of memory from before the trace that was not used in it. So the sizes
    add up to the allocated memory.

    Parameters
    ----------
    memory
        Memory of a place.
    time_ns
        The moment. The default is the peak.
    """
    alive = memory.alive_at(time_ns).columns()
    known = {name: listed(values) for name, values in alive.items()}
    named = zip(known["path"], known["tensor"], strict=True)
    known["tensor"] = [path or name for path, name in named]
    known["line"] = [line or None for line in known["line"]]
    known["address"] = list(map(hex, known["address"]))
    if memory.unseen_bytes:
        last = {"bytes": memory.unseen_bytes, "kind": UNSEEN, "place": memory.place}
        known = {name: [*cells, last.get(name)] for name, cells in known.items()}
    return csv_text({name: known[name] for name in COLUMNS})
