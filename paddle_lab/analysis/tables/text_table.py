"""Rows of text as an aligned table, in plain text and in HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from unicodedata import east_asian_width

from paddle_lab.words import say

Row = Sequence[str]

ROWS_SHOWN = 20
_WIDEST = 44
_NUMBER = "text-align: right; white-space: nowrap"
_TEXT = "text-align: left"


def text_table(header: Row, rows: Sequence[Row], *, numbers: Sequence[int] = ()) -> str:
    """Return aligned lines, the header first. The columns in ``numbers`` are right-aligned."""
    cells = [tuple(header), *(tuple(_one_line(cell) for cell in row) for row in rows)]
    widths = [max(text_width(row[column]) for row in cells) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            padded(cell, width, is_number=column in numbers)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def text_width(text: str) -> int:
    """Return how many terminal columns a text takes: a Chinese character takes two."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def padded(text: str, width: int, *, is_number: bool = False) -> str:
    """Pad a text with spaces to a width: on the right, or on the left for a number."""
    spaces = " " * (width - text_width(text))
    return spaces + text if is_number else text + spaces


def html_table(header: Row, rows: Sequence[Row], *, numbers: Sequence[int] | None = None) -> str:
    """Return the table as HTML. The text of cells is escaped. Text in backticks becomes code.

    Without ``numbers``, the page's style aligns the columns. A notebook aligns all columns to the
    right.
    """
    styles = [""] * len(header)
    if numbers is not None:
        styles = [
            f' style="{_NUMBER if column in numbers else _TEXT}"' for column in range(len(header))
        ]
    head = _html_row("th", header, styles)
    body = "".join(_html_row("td", row, styles) for row in rows)
    return f"<table>{head}{body}</table>"


def _html_row(tag: str, row: Row, styles: Sequence[str]) -> str:
    pairs = zip(row, styles, strict=True)
    cells = (f"<{tag}{style}>{sentence_html(cell)}</{tag}>" for cell, style in pairs)
    return f"<tr>{''.join(cells)}</tr>"


def _one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def header(words: str, *columns: str) -> list[str]:
    """Return the translated names of columns. ``words`` is the prefix of their keys."""
    same = ("NaN", "Inf")
    return [name if name in same else say(f"{words}.column.{name}") for name in columns]


@dataclass(frozen=True)
class Report:
    """A table as it is shown: a title, and the first rows if there are any."""

    title: str
    header: Row = ()
    rows: Sequence[Row] = ()
    numbers: Sequence[int] = ()
    """Columns of numbers."""
    row_count: int = 0
    """How many rows the table has; the report may show fewer."""
    notes: Sequence[str] = ()
    """Sentences below the table."""

    @property
    def _more(self) -> str:
        more = self.row_count - len(self.rows)
        return say("memory.more", n=more) if more > 0 else ""

    def text(self) -> str:
        """Return the table as plain text."""
        table = text_table(self.header, self.rows, numbers=self.numbers) if self.rows else ""
        return "\n".join(part for part in (self.title, table, self._more, *self.notes) if part)

    def html(self) -> str:
        """Return the table as HTML."""
        table = html_table(self.header, self.rows, numbers=self.numbers) if self.rows else ""
        title, *below = (
            f"<p>{sentence_html(part)}</p>" if part else ""
            for part in (self.title, self._more, *self.notes)
        )
        return title + table + "".join(below)


class Reported:
    """A class whose objects are shown as reports in a notebook."""

    def _report(self) -> Report:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self._report().text()

    def _repr_html_(self) -> str:
        return self._report().html()


_CODE = re.compile(r"`([^`]+)`")


def sentence_html(sentence: str) -> str:
    """Return a sentence as escaped HTML, with the text between backticks as ``<code>``."""
    return _CODE.sub(r"<code>\1</code>", escape(sentence))
