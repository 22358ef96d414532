"""The two files of a flight record.

The *ring* is mapped into memory. It has a reading of memory, as JSON, and then the newest ops, one
row each. Rows contain numbers. The *notes* say what the numbers are: one line of JSON for each
number when it is first used, for the beginning and the end of each trace, and for a request to shut
down. Python's ``faulthandler`` writes the stacks of a fatal signal between them, as plain text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

KEY_KINDS: Final = ("name", "stack", "layer")
"""What the numbers in a row are."""
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
