"""The memory ledger of cells and the living tensors, as text and HTML for a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from html import escape

from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.analysis.tables.text_table import header, html_table, text_table
from paddle_lab.holders.living import (
    BackwardGraph,
    Holder,
    LivingTensor,
    Storage,
    holders,
    releasable_bytes,
    storages,
)
from paddle_lab.ledger import Entry
from paddle_lab.words import say

_CELLS_SHOWN, _HOLDERS_SHOWN, _NAMES_SHOWN = 40, 20, 3
_LEDGER_COLUMNS = ("cell", "on", "before", "peak", "after", "still_alive", "held_by")
_LIVING_COLUMNS = ("size", "tensors", "held_by")
_LEDGER_NUMBERS, _LIVING_NUMBERS = (2, 3, 4, 5), (0, 1)

_Table = tuple[str, list[str], list[tuple[str, ...]], tuple[int, ...], list[str]]
"""Title, header, rows, the columns of numbers, and sentences below."""


class LedgerLine:
    """The line about memory below a cell, and a line about a leak if there is one.

    Parameters
    ----------
    entry
        The cell's entry in the ledger.
    leak
        A sentence about a leak, ``""`` if there is none.
    """

    def __init__(self, entry: Entry, *, leak: str = "") -> None:
        self._entry = entry
        self._leak = leak

    def __repr__(self) -> str:
        return "\n".join(filter(None, [self._line(), self._leak]))

    def _line(self) -> str:
        entry = self._entry
        line = say(
            "memory.ledger.line",
            place=entry.place,
            before=size_text(entry.before_bytes),
            peak=_peak_text(entry),
            after=size_text(entry.after_bytes),
        )
        if entry.alive_bytes < 0:
            return line
        if entry.alive_bytes == 0:
            return say("memory.ledger.nothing_alive", line=line)
        held, size = _held_text(entry.held_by), size_text(entry.alive_bytes)
        if not held:
            return say("memory.ledger.alive", line=line, size=size)
        return say("memory.ledger.alive_held", line=line, size=size, names=held)

    def _repr_html_(self) -> str:
        leak = f"<p><b>{escape(self._leak)}</b></p>" if self._leak else ""
        return f"<p>{escape(self._line())}</p>{leak}"


class MemoryReport:
    """The effect of each cell on memory, and the holders of living tensors.

    Parameters
    ----------
    ledger
        The entries of cells, the oldest first.
    tensors
        References to living tensors.
    allocated
        How many bytes Paddle has allocated on each place.
    graphs
        The backward graphs that living tensors keep alive.
    is_complete
        Whether the search for holders ended within its time limit.
    """

    def __init__(
        self,
        ledger: Sequence[Entry],
        tensors: Sequence[LivingTensor],
        *,
        allocated: Mapping[str, int],
        graphs: Sequence[BackwardGraph] = (),
        is_complete: bool = True,
    ) -> None:
        self._ledger = ledger
        self._tensors = tensors
        self._allocated = allocated
        self._graphs = graphs
        self._is_complete = is_complete

    @property
    def releasable_bytes(self) -> int:
        """How many bytes are held only by outputs and tracebacks that the notebook keeps."""
        return releasable_bytes(self._storages)

    @cached_property
    def _storages(self) -> list[Storage]:
        return storages(self._tensors)

    def __repr__(self) -> str:
        parts = [
            "\n".join([title, text_table(columns, rows, numbers=numbers), *below])
            for title, columns, rows, numbers, below in self._tables()
        ]
        return "\n\n".join([*parts, *self._remarks()])

    def _repr_html_(self) -> str:
        parts = []
        for title, columns, rows, numbers, below in self._tables():
            table = html_table(columns, rows, numbers=numbers)
            parts.append(f"<p><b>{escape(title)}</b></p>{table}")
            parts += [f"<p>{escape(sentence)}</p>" for sentence in below]
        return "".join([*parts, *(f"<p>{escape(remark)}</p>" for remark in self._remarks())])

    def _tables(self) -> Iterator[_Table]:
        """Yield the ledger, if there is one, and the table of living tensors."""
        if self._ledger:
            columns, rows = header("memory", *_LEDGER_COLUMNS), self._ledger_rows()
            title = say("memory.ledger.title")
            yield title, columns, rows, _LEDGER_NUMBERS, self._signs(rows)
        columns = [*header("memory", *_LIVING_COLUMNS), ""]
        yield self._headline(), columns, self._living_rows(), _LIVING_NUMBERS, []

    def _headline(self) -> str:
        places = [
            say("memory.ledger.on", size=size_text(size), place=place)
            for place, size in self._allocated.items()
            if size > 0
        ]
        told = say("lists.between").join(places) or say("memory.ledger.nothing")
        return say("memory.ledger.alive_now", places=told)

    def _signs(self, rows: Sequence[tuple[str, ...]]) -> list[str]:
        """Return sentences that explain the signs in the ledger's rows, if there are any."""
        cells = [text for row in rows for text in row[2:6]]
        signs = []
        if any(text.startswith("≥") for text in cells):
            signs.append(say("memory.ledger.at_least"))
        if "–" in cells:
            signs.append(say("memory.ledger.not_recorded"))
        if not signs:
            return []
        told = say("lists.between").join(signs)
        if all(entry.peak_source in {"allocator", "partial"} for entry in self._ledger):
            return [say("memory.ledger.not_all_seen", signs=told)]
        return [say("memory.ledger.use_magic", signs=told)]

    def _remarks(self) -> list[str]:
        remarks = []
        if self._graphs and self._nameless_bytes > 0:
            roots = {tensor.name: tensor.root.label for tensor in self._tensors}
            names = [roots.get(name, name) for graph in self._graphs for name in graph.names]
            told = _shortened(list(dict.fromkeys(names)))
            remarks.append(say("memory.ledger.graphs", names=told))
        if len(self._ledger) > _CELLS_SHOWN:
            remarks.append(say("memory.ledger.last_cells", n=_CELLS_SHOWN, all=len(self._ledger)))
        if not self._is_complete:
            remarks.append(say("memory.ledger.no_time"))
        return remarks

    def _ledger_rows(self) -> list[tuple[str, ...]]:
        return [
            (
                f"[{entry.cell}]",
                entry.place,
                size_text(entry.before_bytes),
                _peak_text(entry),
                size_text(entry.after_bytes),
                "–" if entry.alive_bytes < 0 else size_text(entry.alive_bytes),
                _held_text(entry.held_by),
            )
            for entry in self._ledger[-_CELLS_SHOWN:]
        ]

    def _living_rows(self) -> list[tuple[str, ...]]:
        found = holders(self._storages)
        shown = found[:_HOLDERS_SHOWN]
        rows: list[tuple[str, ...]] = [
            (
                size_text(holder.bytes),
                f"{len(holder.storages):,}",
                _holder_name(holder),
                _holder_remark(holder),
            )
            for holder in shown
        ]
        nameless_bytes = self._nameless_bytes
        if nameless_bytes > 0:
            place = sum(holder.bytes >= nameless_bytes for holder in shown)
            rows.insert(place, (size_text(nameless_bytes), "", say("memory.ledger.nameless"), ""))
        rest = found[_HOLDERS_SHOWN:]
        if rest:
            count = sum(len(holder.storages) for holder in rest)
            size = size_text(sum(holder.bytes for holder in rest))
            rows.append((size, f"{count:,}", say("memory.ledger.more_names", n=len(rest)), ""))
        return rows

    @property
    def _nameless_bytes(self) -> int:
        return sum(self._allocated.values()) - sum(part.bytes for part in self._storages)


def _peak_text(entry: Entry) -> str:
    if entry.peak_bytes < 0:
        return "–"
    at_least = "≥ " if entry.peak_source in {"partial", "sampled"} else ""
    return at_least + size_text(entry.peak_bytes)


def _held_text(held_by: Sequence[tuple[str, int]]) -> str:
    return _shortened([f"{name} {size_text(size)}" for name, size in held_by])


def _shortened(names: Sequence[str]) -> str:
    rest = len(names) - _NAMES_SHOWN
    more = [say("memory.ledger.more", n=rest)] if rest > 0 else []
    return say("lists.between").join([*names[:_NAMES_SHOWN], *more])


def _holder_name(holder: Holder) -> str:
    if len(holder.storages) == 1:
        return holder.storages[0].tensors[0].name
    return holder.root.label


def _holder_remark(holder: Holder) -> str:
    if holder.is_notebooks_alone:
        return say("memory.ledger.notebook_alone")
    if all(storage.is_in_scope for storage in holder.storages):
        return say("memory.ledger.scope")
    if holder.root.remark == say("memory.held_by.cycle"):
        return say("memory.ledger.in_cycle")
    if holder.viewed_bytes:
        shown = sum(
            max(tensor.bytes for tensor in part.tensors)
            for part in holder.storages
            if part.is_viewed_only
        )
        kept = size_text(holder.viewed_bytes)
        return say("memory.ledger.view", size=size_text(shown), kept=kept)
    return ""
