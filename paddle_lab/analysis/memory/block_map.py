"""Which addresses were allocated at a moment: the blocks, and the holes between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.memory.allocations import AllocationTable
from paddle_lab.analysis.memory.attribution import Attribution
from paddle_lab.analysis.memory.sizes import moment_text, size_text
from paddle_lab.analysis.tables.text_table import Report, Reported, header
from paddle_lab.words import say

_ROWS_SHOWN = 12

Addresses = npt.NDArray[np.int64]

GAP_BYTES = 2 << 20
"""Blocks further apart than this are in different ranges. On a device, Paddle's allocator grows
in larger chunks; on a host, the heap and the mappings are further apart."""


def address_ranges(
    address: npt.NDArray[Any], size_bytes: npt.NDArray[Any]
) -> tuple[Addresses, Addresses]:
    """Return the address ranges of blocks. Gaps up to ``GAP_BYTES`` do not end a range.

    Parameters
    ----------
    address, size_bytes
        The blocks, in any order, shape ``[blocks]``; blocks of different times may overlap. A block
        of 0 bytes counts as 1 byte.

    Returns
    -------
    tuple
        The first address of each range, and the address after its last one, ascending, int64, shape
        ``[ranges]`` each.
    """
    if not len(address):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.argsort(address)
    begin = address[order].astype(np.int64)
    reach = np.maximum.accumulate(begin + np.maximum(size_bytes[order], 1))
    is_first = np.append(True, begin[1:] - reach[:-1] > GAP_BYTES)
    firsts = np.flatnonzero(is_first)
    return begin[firsts], reach[np.append(firsts[1:], len(begin)) - 1]


@dataclass(frozen=True, repr=False)
class BlockMap(Reported):
    """The blocks that were alive at a moment, by address, and the address ranges around them.

    In a range, the trace saw blocks at any time. Paddle does not report where its chunks begin. So
    a range may be a part of a chunk, or several chunks in a row.
    """

    time_ns: int
    allocations: AllocationTable
    """The blocks, by address."""
    range_start: Addresses
    """First address of each range, ascending, int64, shape ``[ranges]``."""
    range_end: Addresses
    """Address after the last of each range, int64, shape ``[ranges]``."""
    range_of_block: npt.NDArray[Any]
    """Range of each block, int64, shape ``[blocks]``."""
    hole_start: Addresses
    """First address of each stretch without a block, ascending, int64, shape ``[holes]``."""
    hole_end: Addresses
    """Address after the last of each hole, int64, shape ``[holes]``."""

    @property
    def allocated_bytes(self) -> int:
        """The sum of the blocks' sizes."""
        return self.allocations.total_bytes

    @property
    def free_bytes(self) -> int:
        """The sum of the holes' sizes."""
        return int((self.hole_end - self.hole_start).sum())

    @property
    def largest_hole_bytes(self) -> int:
        """The size of the largest hole."""
        return int((self.hole_end - self.hole_start).max(initial=0))

    def _report(self) -> Report:
        extent = self.range_end - self.range_start
        taken = np.zeros(len(extent), np.int64)
        np.add.at(taken, self.range_of_block, [block.bytes for block in self.allocations])
        blocks = np.bincount(self.range_of_block, minlength=len(extent))
        rows = [
            (f"{self.range_start[i]:#x}", size_text(extent[i]), size_text(taken[i]),
             f"{blocks[i]:,}")
            for i in np.argsort(-extent, kind="stable")[:_ROWS_SHOWN].tolist()
        ]  # fmt: skip
        title = say(
            "memory.map",
            n=len(self.allocations),
            moment=moment_text(self.time_ns),
            size=size_text(self.allocated_bytes),
            ranges=len(extent),
            hole=size_text(self.largest_hole_bytes),
        )
        names = header("memory", "from", "extent", "taken", "blocks")
        return Report(title, names, rows, numbers=(1, 2, 3))


def block_map(
    attribution: Attribution, blocks: npt.NDArray[Any], alive: npt.NDArray[Any], time_ns: int
) -> BlockMap:
    """Return the map of one place at one moment.

    Parameters
    ----------
    attribution
        The owners of the blocks.
    blocks
        All blocks of the place, for the ranges, shape ``[all blocks]``.
    alive
        The blocks that were alive, shape ``[blocks]``.
    time_ns
        The moment.
    """
    table = attribution.record.allocations
    range_start, range_end = address_ranges(table["address"][blocks], table["bytes"][blocks])
    by_address = alive[np.argsort(table["address"][alive], kind="stable")]
    begin = table["address"][by_address].astype(np.int64)
    range_of_block = np.searchsorted(range_start, begin, side="right") - 1
    # A hole lies between the end of all earlier blocks and the start of the next block. The ends of
    # a range count as empty blocks. The space between two ranges is no hole.
    starts = np.concatenate([range_start, begin, range_end])
    ends = np.concatenate([range_start, begin + table["bytes"][by_address], range_end])
    order = np.argsort(starts, kind="stable")
    reach, following = np.maximum.accumulate(ends[order])[:-1], order[1:]
    is_hole = (starts[following] > reach) & (following >= len(range_start))
    return BlockMap(
        time_ns,
        AllocationTable(attribution, by_address),
        range_start,
        range_end,
        range_of_block,
        reach[is_hole],
        starts[following][is_hole],
    )
