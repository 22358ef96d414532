"""Finds the edited source line to which the first difference goes back."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np

from paddle_lab.analysis.source.stacks import USER, place
from paddle_lab.comparison.compared import Compared
from paddle_lab.comparison.gradient_rows import ComparedGradient
from paddle_lab.comparison.rows import ComparedOp
from paddle_lab.trace.distinct import distinct
from paddle_lab.trace.record import Record
from paddle_lab.trace.trees import taken
from paddle_lab.words import say

Source = tuple[int, int]
"""The code of a file's name, and the number of its cell."""


class Edit(NamedTuple):
    """Lines of trace b's source that are not as in trace a's."""

    where: str
    line: int
    """The first of the lines in trace b, from 1."""
    end: int
    """The line after the last one."""
    before: str
    after: str
    is_called: bool = False
    """Whether the op was called from these lines."""

    def __str__(self) -> str:
        kind = "changed" if self.before and self.after else "added" if self.after else "removed"
        key = f"comparison.edit.{'called' if self.is_called else 'elsewhere'}.{kind}"
        return say(key, where=self.where, before=self.before, after=self.after)


def edit_of(first: ComparedOp | ComparedGradient, found: Compared) -> Edit | None:
    """Return the edit that the first difference goes back to, as far as the sources show."""
    edits = _edits(found)
    for frame in first.b.stack if first.b else ():
        for source, one in edits:
            record = found.b.record
            cell = -1 if frame.cell is None else frame.cell
            is_there = (record.text(source[0]), source[1]) == (frame.file, cell)
            if is_there and one.line <= frame.line < one.end:
                return one._replace(is_called=True)
    if first.b is None and first.a is not None:
        lines = {frame.text for frame in first.a.stack if frame.text}
        for _, one in edits:
            if one.before.removesuffix(" …") in lines:
                return one._replace(is_called=True)
    return edits[0][1] if len(edits) == 1 else None


def _shown(lines: list[str]) -> str:
    """Return the first line of several."""
    told = [line.strip() for line in lines if line.strip()]
    return f"{told[0]} …" if len(told) > 1 else "".join(told)


def _edits(found: Compared) -> list[tuple[Source, Edit]]:
    a, b = found.a.record, found.b.record
    edits = []
    for one, two in _source_pairs(found):
        # The line of a cell's magic is no edit: `--digest` in one run is `--against` in the other.
        lines, others = (
            [(at, line) for at, line in lines_of(*side) if not line.startswith("%%")]
            for side in ((a, one), (b, two))
        )
        texts = [text for _, text in lines], [text for _, text in others]
        if texts[0] == texts[1]:
            continue
        blocks = SequenceMatcher(None, *texts, autojunk=False).get_opcodes()
        for kind, start, stop, begin, end in blocks:
            is_inside = begin > 0 and end < len(others) and start > 0 and stop < len(lines)
            # A file's record has only the lines around frames, so its ends may differ.
            if kind == "equal" or not (is_inside or two[1] >= 0):
                continue
            line = others[min(begin, len(others) - 1)][0] if others else 1
            parts = texts[0][start:stop], texts[1][begin:end]
            before, after = map(_shown, parts)
            if before or after:
                where = place(b.text(two[0]), line, two[1])
                edits.append((two, Edit(where, line, line + end - begin, before, after)))
    return edits


def _source_pairs(found: Compared) -> list[tuple[Source, Source]]:
    """Return which sources of the two traces correspond: those with the most matched ops."""
    pairs = (found.op_a >= 0) & (found.op_b >= 0)
    columns = []
    for side, ops in ((found.a, found.op_a[pairs]), (found.b, found.op_b[pairs])):
        record = side.record
        frame = taken(record.stack_frames["frame"], record.ops["stack"][ops])
        columns += [taken(record.frames[key], frame) for key in ("file", "cell", "kind")]
    is_user = (columns[2] == USER) & (columns[5] == USER)
    both = np.stack([columns[at][is_user] for at in (0, 1, 3, 4)])
    first, number = distinct(*both)
    commonest = first[np.argsort(-np.bincount(number), kind="stable")]
    sources: dict[Source, Source] = {}
    for file, cell, other, other_cell in both[:, commonest].T.tolist():
        sources.setdefault((other, other_cell), (file, cell))
    return [(one, two) for two, one in sources.items()]


def lines_of(record: Record, source: Source) -> list[tuple[int, str]]:
    """Return the numbered lines of a source that the record has."""
    sources = record.sources
    rows = np.flatnonzero((sources["file"] == source[0]) & (sources["cell"] == source[1]))
    lines: dict[int, str] = {}
    for row in rows.tolist():
        first = int(sources["first_line"][row])
        text = record.text(int(sources["text"][row]))
        lines.update(enumerate(text.splitlines(), first))
    return sorted(lines.items())
