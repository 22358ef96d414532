"""Numbers pairs of integers from 0, in the order of their first use."""

from __future__ import annotations

from array import array

from paddle_lab.capture.rows.tape import Cells


class PairTable:
    """Numbers frames (pairs of code and instruction) and stacks (pairs of frame and caller).

    Methods take and return many integers at once, because there are as many pairs as ops.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, first: bytes, second: bytes) -> bytes:
        """Return the number of each pair, 8 bytes each. New pairs get the next numbers."""
        numbers = self._numbers
        pairs = zip(_integers(first), _integers(second), strict=True)
        return array("q", [numbers.setdefault(pair, len(numbers)) for pair in pairs]).tobytes()

    def chain(
        self,
        chains: bytes,
        befores: bytes,
        starts: bytes,
        links: bytes,
        ends: Cells,
    ) -> None:
        """Assign numbers to chains of pairs. A pair's second integer is the previous pair's number.

        Parameters
        ----------
        chains
            The chains to number, in this order.
        befores
            For each chain, the chain that it continues, -1 for none.
        starts
            For each chain, the position of its first link; and at the end the number of all links.
        links
            The first integer of each pair.
        ends
            The result is written here: for each chain, the number of its last pair, -1 for an empty
            chain that continues no other chain.
        """
        numbers, starting, linked = self._numbers, _integers(starts), _integers(links)
        owners = zip(_integers(chains), _integers(befores), strict=True)
        for at, (owner, before) in enumerate(owners):
            number = -1 if before < 0 else int(ends[before])
            for link in linked[starting[at] : starting[at + 1]]:
                number = numbers.setdefault((link, number), len(numbers))
            ends[owner] = number

    def to_bytes(self) -> bytes:
        """Return the pairs in the order of their numbers, 16 bytes each."""
        return array("q", [cell for pair in self._numbers for cell in pair]).tobytes()


def _integers(cells: bytes) -> array[int]:
    integers = array("q")
    integers.frombytes(cells)
    return integers
