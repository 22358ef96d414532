"""From an address, and the op that stands behind it, to a number."""

from __future__ import annotations

from paddle_lab.capture.native import native_twin


@native_twin
class AddressTable:
    """Numbers of grad nodes: freed addresses are reused, so an op tells which node is meant."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, address: int, op: int) -> int:
        """Return the number noted, or -1."""
        return self._numbers.get((address, op), -1)

    def note(self, address: int, op: int, number: int) -> None:
        """Note a number; the address is none of 0."""
        self._numbers[address, op] = number

    def drop(self, address: int, op: int) -> None:
        """Forget a number, if one was noted."""
        self._numbers.pop((address, op), None)
