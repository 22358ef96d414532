"""Numbers of grad nodes, looked up by address and by the op that made the node."""

from __future__ import annotations

from paddle_lab.capture.native import native_twin


@native_twin
class AddressTable:
    """Finds a grad node's number. Paddle reuses freed addresses, so the op is part of the key."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, address: int, op: int) -> int:
        """Return the noted number, or -1."""
        return self._numbers.get((address, op), -1)

    def note(self, address: int, op: int, number: int) -> None:
        """Note a number. The address must not be 0."""
        self._numbers[address, op] = number

    def drop(self, address: int, op: int) -> None:
        """Forget a number, if one was noted."""
        self._numbers.pop((address, op), None)
