"""Maps objects to numbers, without keeping the objects alive."""

from __future__ import annotations

import weakref
from array import array
from typing import Any

from paddle_lab.capture.native import native_twin


@native_twin
class ObjectTable:
    """Looks up objects by ``id``. A weak reference detects a reused ``id``."""

    def __init__(self) -> None:
        self.references: dict[int, Any] = {}
        self.values: dict[int, int] = {}

    def find(self, value: Any) -> int:
        """Return the stored number of an object, or -1."""
        reference = self.references.get(id(value))
        if reference is None or reference() is not value:
            return -1
        return self.values.get(id(value), -1)  # an interrupt may hit between note()'s writes

    def note(self, value: Any, number: int) -> None:
        """Store the number of an object."""
        self.references[id(value)] = weakref.ref(value)
        self.values[id(value)] = number

    def living(self) -> list[tuple[Any, int]]:
        """Return the objects that are still alive, and their numbers."""
        alive = []
        for identity, reference in list(self.references.items()):
            value, number = reference(), self.values.get(identity)
            if value is not None and number is not None:
                alive.append((value, number))
        return alive

    def living_numbers(self) -> bytes:
        """Return the numbers of the objects that are still alive, 8 bytes each."""
        return array("q", [number for _, number in self.living()]).tobytes()
