"""Rows of text as an aligned table, in plain text and in HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

Row = Sequence[str]

_WIDEST = 44


def text_table(header: Row, rows: Sequence[Row], *, numbers: Sequence[int] = ()) -> str:
    """Return aligned lines, the header first; the columns in ``numbers`` are flush right."""
    cells = [tuple(header), *(tuple(_one_line(cell) for cell in row) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in numbers else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def html_table(header: Row, rows: Sequence[Row]) -> str:
    """Return the same as an HTML table; every cell is text."""
    head = "".join(f"<th>{escape(title)}</th>" for title in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
