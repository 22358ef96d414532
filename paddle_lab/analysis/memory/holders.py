"""Which objects held memory when the cell ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.memory.allocation_table import AllocationTable
from paddle_lab.analysis.memory.attribution import Attribution
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.analysis.tables.text_table import html_table, text_table
from paddle_lab.trace.schema import HOLDER_KINDS
from paddle_lab.words import say

_ROWS_SHOWN = 20
_COLUMNS = ("size", "blocks", "held_by", "kind")


@dataclass(frozen=True)
class Holder:
    """A name that kept blocks alive: a variable, ``Out[5]``, ``loss``'s backward graph."""

    name: str
    kind: str
    """One of :data:`paddle_lab.trace.schema.HOLDER_KINDS`."""
    allocations: AllocationTable = field(repr=False)
    """The blocks, largest first; another holder may hold some of them too."""

    @property
    def bytes(self) -> int:
        """The sum of their sizes."""
        return self.allocations.total_bytes


class HolderTable(Sequence[Holder]):
    """The holders, the largest first."""

    def __init__(self, holders: Sequence[Holder]) -> None:
        self._holders = holders

    def __len__(self) -> int:
        return len(self._holders)

    @overload
    def __getitem__(self, index: int) -> Holder: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Holder]: ...
    def __getitem__(self, index: int | slice) -> Holder | Sequence[Holder]:
        return self._holders[index]

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (size_text(holder.bytes), f"{len(holder.allocations):,}", holder.name,
             _kind(holder.kind))
            for holder in self._holders[:_ROWS_SHOWN]
        ]  # fmt: skip

    def __repr__(self) -> str:
        if not self._holders:
            return say("memory.no_holders")
        return text_table(_header(), self._rows(), numbers=(0, 1))

    def _repr_html_(self) -> str:
        return html_table(_header(), self._rows(), numbers=(0, 1))


def _header() -> list[str]:
    return [say(f"memory.column.{name}") for name in _COLUMNS]


def _kind(kind: str) -> str:
    return say(f"page.holder_kind.{kind}")


def holders(attribution: Attribution, keys: npt.NDArray[Any]) -> HolderTable:
    """Return who held blocks of one place when the cell was over.

    Parameters
    ----------
    attribution
        Whose the blocks are.
    keys
        The blocks of the place, shape ``[blocks]``.
    """
    record = attribution.record
    table = record.tables["holders"]
    is_of_place = np.zeros(len(record.allocations) + 1, bool)
    is_of_place[keys] = True
    rows = np.flatnonzero(is_of_place[table["allocation"]])
    grouped: dict[tuple[int, int], list[int]] = {}
    for kind, name, block in zip(
        table["kind"][rows].tolist(),
        table["name"][rows].tolist(),
        table["allocation"][rows].tolist(),
        strict=True,
    ):
        grouped.setdefault((kind, name), []).append(block)
    size = record.allocations["bytes"]
    found = []
    for (kind, name), blocks in grouped.items():
        held = np.unique(np.array(blocks, np.int32))
        held = held[np.argsort(-size[held], kind="stable")]
        table_of_blocks = AllocationTable(attribution, held)
        found.append(Holder(record.text(name), HOLDER_KINDS[kind], table_of_blocks))
    return HolderTable(sorted(found, key=lambda holder: -holder.bytes))
