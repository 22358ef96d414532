"""Finds the objects that held memory when the cell ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.memory.allocations import AllocationTable
from paddle_lab.analysis.memory.attribution import Attribution
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.analysis.tables.columns import Values
from paddle_lab.analysis.tables.data_frames import Framed, attributes
from paddle_lab.analysis.tables.rows import RowList
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, Reported, header
from paddle_lab.trace.schema import HOLDER_KINDS
from paddle_lab.words import say


@dataclass(frozen=True)
class Holder:
    """A name that kept blocks alive: a variable, ``Out[5]``, the backward graph of ``loss``."""

    name: str
    kind: str
    """One of :data:`paddle_lab.trace.schema.HOLDER_KINDS`."""
    allocations: AllocationTable = field(repr=False)
    """The blocks, largest first. Another holder may also hold some of them."""

    @property
    def bytes(self) -> int:
        """The sum of the blocks' sizes."""
        return self.allocations.total_bytes


class HolderTable(Reported, Framed, RowList[Holder]):
    """The holders, the largest first."""

    def _columns(self) -> dict[str, Values]:
        blocks: Values = [len(holder.allocations) for holder in self]
        return {**attributes(self, ("name", "kind", "bytes")), "blocks": blocks}

    def _report(self) -> Report:
        if not len(self):
            return Report(say("memory.no_holders"))
        alike = self.alike()
        rows = [
            (
                size_text(holder.bytes),
                f"{len(holder.allocations):,}",
                name,
                say(f"page.holder_kind.{holder.kind}"),
            )
            for name, holder in alike[:ROWS_SHOWN]
        ]
        names = header("memory", "size", "blocks", "held_by", "kind")
        return Report("", names, rows, numbers=(0, 1), row_count=len(alike))

    def alike(self) -> list[tuple[str, Holder]]:
        """Return one holder for each set of blocks, with its name and how many others hold the set.

        For example, a layer and an optimizer hold the same parameter, which is only one block.
        """
        by_blocks: dict[bytes, list[Holder]] = {}
        for holder in self:
            by_blocks.setdefault(np.sort(holder.allocations.keys).tobytes(), []).append(holder)
        return [(_named(held), held[0]) for held in by_blocks.values()]


def _named(alike: list[Holder]) -> str:
    name, others = alike[0].name or say("memory.held_by.nobody"), len(alike) - 1
    return say("memory.held_by_several", name=name, n=others) if others else name


def holders(attribution: Attribution, keys: npt.NDArray[Any]) -> HolderTable:
    """Return the objects that held blocks of one place when the cell ended.

    Parameters
    ----------
    attribution
        The owners of the blocks.
    keys
        The blocks of the place, shape ``[blocks]``.
    """
    record = attribution.record
    table = record.tables["holders"]
    is_of_place = np.zeros(len(record.allocations) + 1, bool)
    is_of_place[keys] = True
    held = np.stack([table["kind"], table["name"], table["allocation"]], axis=1)
    held = np.unique(held[is_of_place[table["allocation"]]], axis=0)
    _, first = np.unique(held[:, :2], axis=0, return_index=True)
    found = []
    for blocks in np.split(held, first[1:])[: len(first)]:
        kind, name = blocks[0, :2].tolist()
        allocations = AllocationTable(attribution, blocks[:, 2].astype(np.int32)).largest_first()
        found.append(Holder(record.text(name), HOLDER_KINDS[kind], allocations))
    # A variable of the user comes before what only the notebook keeps.
    found.sort(key=lambda holder: (-holder.bytes, holder.kind in {"output", "traceback"}))
    return HolderTable(found)
