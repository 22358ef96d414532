"""Pairs of integers, numbered from 0 in the order of their first use."""

from __future__ import annotations

from array import array

from paddle_lab.capture.rows.tape import Cells


class PairTable:
    """Frames are pairs of code and instruction; stacks are pairs of a frame and a caller's stack.

    What it takes and returns are many integers at once, since there are as many as ops.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, first: bytes, second: bytes) -> bytes:
        """Return the number of each pair, 8 bytes each; new pairs get the next ones."""
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
        """Give numbers to pairs along chains: the number of one pair is the second of the next.

        Parameters
        ----------
        chains
            Which chains to number, in this order.
        befores
            Of each, the chain at whose end it begins; -1 for none.
        starts
            Where its links begin, and behind the last one where they end.
        links
            The first of each pair.
        ends
            The number at the end of each chain there is, by chain; written. -1 where a chain is
            empty and begins at none.
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
