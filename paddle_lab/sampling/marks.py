"""What ran when: spans of cells and of layers, merged while they are the same."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

_CAPACITY: Final = 6000
"""As many as samples: each may see another layer."""


class Mark(NamedTuple):
    """A span on the sampler's clock in which one cell or layer ran."""

    start_ns: int
    end_ns: int
    """-1 while it runs."""
    label: str


class Marks:
    """The last spans of one kind, such as cells; at most one is open."""

    def __init__(self) -> None:
        self._ended: deque[Mark] = deque(maxlen=_CAPACITY)
        self._open: Mark | None = None
        self.count = 0
        """Spans that have ended so far, those that were dropped included."""

    def run(self, label: str, time_ns: int) -> None:
        """Say what runs from now on; an empty label says that nothing does."""
        current = self._open
        if current is not None:
            if current.label == label:
                return
            self._ended.append(current._replace(end_ns=time_ns))
            self.count += 1
        self._open = Mark(time_ns, -1, label) if label else None

    @property
    def running(self) -> Mark | None:
        """What runs now."""
        return self._open

    def since(self, count: int = 0) -> list[Mark]:
        """Return the spans that ended from number ``count`` on, as far as they are kept."""
        new = min(self.count - count, len(self._ended))
        return [self._ended[place] for place in range(-new, 0)]
