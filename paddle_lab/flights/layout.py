"""The two files of a flight record.

The *ring* is mapped into memory. It begins with a measurement of memory, as JSON. Then come the
newest ops, one row for each. The rows contain only numbers.

The *notes* are lines of JSON. The first use of a number adds a line that tells its meaning. The
beginning and end of a trace, and a request to shut down, also add a line. If a fatal signal comes,
Python's ``faulthandler`` adds the stacks as plain text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

KEY_KINDS: Final = ("name", "stack", "layer")
"""The kinds of numbers in a row that the notes explain."""
READING_BYTES: Final = 4096
CAPACITY: Final = 16_384
ROW: Final = np.dtype([
    ("number", "i8"),  # from 1 on; 0 for an empty row
    ("start_ns", "i8"),  # by ``perf_counter_ns``
    ("duration_ns", "i8"),  # -1 while the op runs
    *((kind, "i4") for kind in KEY_KINDS),
    ("thread", "i4"),
])  # fmt: skip
RING_BYTES: Final = READING_BYTES + CAPACITY * ROW.itemsize
RING: Final = ".ring"
NOTES: Final = ".notes"


def paths_of(folder: Path, name: str) -> tuple[Path, Path]:
    """Return the paths of a record's ring and notes."""
    return folder / f"{name}{RING}", folder / f"{name}{NOTES}"
