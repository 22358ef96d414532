"""Filling the room there is: of the rung that made a copy small enough, as little as will do."""

from __future__ import annotations

from typing import Final

from paddle_lab.trace.record import Record
from paddle_lab.views.reduction.rungs import Rung
from paddle_lab.views.reduction.sizes import Sizes

_FULL_ENOUGH: Final = 0.93
_AIMS: Final = 0.97, 0.92, 0.87
"""How much of the room each try is to fill. Copies shrink late: most turn out larger."""
_LEAST_LESS: Final = 0.02
"""A share that is hardly less than the last one's is not tried."""


def least_of(
    rung: Rung, record: Record, *, sizes: Sizes, room_bytes: float, size_bytes: int
) -> Record | None:
    """Return the record with as small a share of a rung as fits, None where all of it is needed.

    Parameters
    ----------
    record
        The record before the rung; it does not fit.
    room_bytes
        How large it may be, as ``sizes`` guesses.
    size_bytes
        How large the record is after all of the rung: it fits.
    """
    if rung.part is None or size_bytes > room_bytes * _FULL_ENOUGH:
        return None
    too_little, enough = (0.0, sizes.of(record)), (1.0, size_bytes)
    found = None
    for aim in _AIMS:
        per_byte = (enough[0] - too_little[0]) / max(1, too_little[1] - enough[1])
        share = enough[0] - (room_bytes * aim - enough[1]) * per_byte
        if not too_little[0] < share < enough[0] - _LEAST_LESS:
            break
        reduced = rung.part(record, share)
        size = sizes.of(reduced)
        if size > room_bytes:
            too_little = share, size
            continue
        found, enough = reduced, (share, size)
        if size > room_bytes * _FULL_ENOUGH:
            break
    return found
