"""What was alive in a moment, as comma-separated values."""

from __future__ import annotations

import csv
import io

from paddle_lab.analysis.memory.allocations import Allocation
from paddle_lab.analysis.memory.breakdown import UNSEEN
from paddle_lab.analysis.memory.memory import Memory

COLUMNS = (
    "bytes",
    "kind",
    "op",
    "op_name",
    "layer",
    "file",
    "line",
    "function",
    "cell",
    "phase",
    "tensor",
    "shape",
    "dtype",
    "start_ns",
    "end_ns",
    "address",
    "place",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def memory_csv(memory: Memory, *, time_ns: int | None = None) -> str:
    """Return one line a block that was alive, largest first, after a line of column names.

    What was there before the trace and not used in it is known as a sum only, which comes last: so
    the sizes add up to what was allocated.

    What is unknown is empty. A text that a spreadsheet would take for a formula gets an apostrophe
    before it, as a trace may come from someone else.

    Parameters
    ----------
    memory
        Memory of a place.
    time_ns
        The moment; the peak by default.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_row(block) for block in memory.alive_at(time_ns))
    if memory.unseen_bytes:
        row = {"bytes": memory.unseen_bytes, "kind": UNSEEN, "place": memory.place}
        writer.writerow(row.get(column, "") for column in COLUMNS)
    return text.getvalue()


def _row(block: Allocation) -> list[str | int]:
    op, tensor, frame = block.op, block.tensor, block.frame
    cells: tuple[str | int | None, ...] = (
        block.bytes,
        block.kind,
        op.key if op else None,
        op.name if op else None,
        block.layer,
        block.file,
        frame.line if frame else None,
        frame.function if frame else None,
        frame.cell if frame else None,
        block.phase,
        (tensor.path or tensor.name) if tensor else None,
        str(list(tensor.shape)) if tensor else None,
        tensor.dtype if tensor else None,
        block.start_ns,
        block.end_ns,
        hex(block.address),
        block.place,
    )
    return [
        _text(cell) if isinstance(cell, str) else "" if cell is None else cell for cell in cells
    ]


def _text(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
