"""Where memory is: numbers for the places that Paddle's events name."""

from __future__ import annotations

import threading

CPU = "Place(cpu)"
PINNED = "Place(gpu_pinned)"
"""The host's pinned memory, which a device can read; Paddle counts it as the host's."""
HOST = 0
"""The host's number."""


class Places:
    """The places met in this process; :data:`PLACES` is the only instance."""

    def __init__(self) -> None:
        self._numbers = {CPU: HOST, PINNED: HOST}
        self._names = ["cpu"]
        self._lock = threading.Lock()

    def number(self, place: str) -> int:
        """Return the number of a place, such as ``"Place(gpu:0)"``."""
        with self._lock:
            if place not in self._numbers:
                self._numbers[place] = len(self._names)
                self._names.append(place.removeprefix("Place(").removesuffix(")"))
            return self._numbers[place]

    def name(self, number: int) -> str:
        """Return the name of a place in records, such as ``"gpu:0"``."""
        return self._names[number]


PLACES = Places()
