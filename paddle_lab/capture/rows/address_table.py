"""Maps a grad node's address, and the op that made the node, to the node's number."""

from __future__ import annotations

from paddle_lab.capture.native import native_twin


@native_twin
class AddressTable:
    """Finds the numbers of grad nodes. Paddle reuses addresses, so the op is part of the key."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, address: int, op: int) -> int:
        """Return the stored number, or -1."""
        return self._numbers.get((address, op), -1)

    def note(self, address: int, op: int, number: int) -> None:
        """Store a number. The address must not be 0."""
        self._numbers[address, op] = number

    def drop(self, address: int, op: int) -> None:
        """Remove a number if it is stored."""
        self._numbers.pop((address, op), None)
