"""``paddle_lab.last_crash()``: reports how the notebook's previous kernel died."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_lab.notebook_cells import running_notebook

if TYPE_CHECKING:
    from paddle_lab.flights.crash import Crash

_LOOKED_UP: dict[str, Crash | None] = {}


def last_crash() -> Crash | None:
    """Report how the notebook's previous kernel died in a traced cell, and its last ops.

    The result is ``None`` if that kernel ended normally, and outside of notebooks. ``%load_ext
    paddle_lab`` shows the same report once. Only the next kernel can read the report. Without the
    compiled part of this package, the result is always ``None``.
    """
    notebook = running_notebook()
    if notebook is None:
        return None
    if notebook not in _LOOKED_UP:
        from paddle_lab.flights.crash import Crash, is_crash
        from paddle_lab.flights.folder import flights_folder, take_dead

        try:
            flight = take_dead(flights_folder(), notebook)
        except OSError:
            flight = None
        is_reported = flight is not None and is_crash(flight)
        _LOOKED_UP[notebook] = Crash(flight) if flight is not None and is_reported else None
    return _LOOKED_UP[notebook]
