"""The sampled counters, and the sources that read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

ABSENT: Final = -1
"""The value of a counter that has no value now. It is not zero, because zero is a value."""


@dataclass(frozen=True)
class Counter:
    """One counter of one device; a row of the record's table ``counters``.

    Parameters
    ----------
    name
        ``"allocated"``, ``"reserved"``, ``"peak allocated"``, ``"used"``, ``"resident"``, …
    device
        ``"cpu"``, ``"gpu:0"``, ``"process"``.
    source
        The source: ``"paddle"``, ``"nvml"``, ``"process"``.
    unit
        ``"bytes"`` or ``"percent"``.
    limit
        The largest value it can have, such as a device's total; 0 if that is unknown.
    absence
        A sentence that says why the counter has no values; empty while it has values.
    """

    name: str
    device: str
    source: str
    unit: str = "bytes"
    limit: int = 0
    absence: str = ""


class Source(Protocol):
    """Reads some counters."""

    def counters(self) -> Sequence[Counter]:
        """Return its counters. Later calls may append counters and change their absence.

        Called after :meth:`read`, perhaps from another thread while ``read`` is running.
        """

    def read(self, now_ns: int) -> Sequence[int]:
        """Return one value for each of :meth:`counters`, :data:`ABSENT` if it has none.

        Called only by the sampler's thread. The values are not changed afterwards. It never raises:
        a counter that cannot be read becomes absent.
        """


@runtime_checkable
class LastingSource(Source, Protocol):
    """A source that also works between reads, and must be closed."""

    def close(self) -> None:
        """Stop working; a later read starts again."""
