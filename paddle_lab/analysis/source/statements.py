"""Finds the statement of a line that ran: ``b = g(a)`` in ``a = f(x); b = g(a)``."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from functools import lru_cache

_COMPOUND = frozenset(
    ("if", "elif", "else", "for", "while", "with", "try", "except", "finally", "def", "class")
)
_NO_CODE = frozenset(
    (tokenize.COMMENT, tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.DEDENT)
)


def statement_at(line: str, column: int) -> str:
    """Return the statement of a line that contains the code at a column.

    Parameters
    ----------
    line
        A single line of Python. It may begin or end inside of a statement.
    column
        The column in characters, from 0.

    Returns
    -------
    str
        The statement. If the line has only one statement, the whole line, including a comment.
    """
    spans = _spans(line)
    if len(spans) < 2:
        return line.strip()
    start, end = next((span for span in reversed(spans) if span[0] <= column), spans[0])
    return line[start:end]


@lru_cache(maxsize=256)
def _spans(line: str) -> list[tuple[int, int]]:
    """Return where each statement of a line begins and ends; none for an empty line."""
    spans: list[tuple[int, int]] = []
    begin, end, depth, lambdas, is_header = -1, -1, 0, 0, False
    for kind, text, start, stop in _tokens(line):
        if kind in _NO_CODE:
            continue
        if begin < 0:
            begin = start
            word = text if text != "async" else line[stop:].split(maxsplit=1)[0]
            is_header = word in _COMPOUND
        is_end = depth == 0 and text == ";"
        if depth == 0 and text == ":" and is_header:
            is_end, lambdas = lambdas == 0, max(0, lambdas - 1)
        if is_end:
            spans.append((begin, stop if text == ":" else end))
            begin = -1
            continue
        end = stop
        lambdas += text == "lambda" and depth == 0
        depth = max(0, depth + (text in "([{") - (text in ")]}")) if kind == tokenize.OP else depth
    return spans if begin < 0 else [*spans, (begin, end)]


def _tokens(line: str) -> Iterator[tuple[int, str, int, int]]:
    """Yield a line's tokens (kind, text, begin, end), up to the first invalid token."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.rstrip("\r\n") + "\n").readline):
            if token.type != tokenize.INDENT and token.start[0] == 1:
                yield token.type, token.string, token.start[1], token.end[1]
    except (tokenize.TokenError, SyntaxError):  # a bracket or string continues in the next line
        return
