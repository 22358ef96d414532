"""The sampled counters, and the sources that read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

ABSENT: Final = -1
"""The value of a counter that has no value now. It is not zero, because zero is a value."""


@dataclass(frozen=True)
class Counter:
    """A counter of a device.

    Parameters
    ----------
    name
        ``"allocated"``, ``"reserved"``, ``"peak allocated"``, ``"used"``, ``"resident"``, …
    device
        ``"cpu"``, ``"gpu:0"``, ``"process"``.
    source
        The source that reads the counter: ``"paddle"``, ``"nvml"``, ``"process"``.
    unit
        ``"bytes"`` or ``"percent"``.
    limit
        The largest possible value, such as a device's total memory; 0 if unknown.
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
        """Return the source's counters. Later calls may add counters or change their absence.

        This is called after :meth:`read`, perhaps in another thread while ``read`` is running.
        """

    def read(self, now_ns: int) -> Sequence[int]:
        """Return a value for each of :meth:`counters`, :data:`ABSENT` if there is none.

        Only the sampler's thread calls this. The returned values are not changed afterwards. It
        never raises: a counter that cannot be read becomes absent.
        """


@runtime_checkable
class LastingSource(Source, Protocol):
    """A source that also works between reads, so it must be closed."""

    def close(self) -> None:
        """Stop working. A later read starts again."""
