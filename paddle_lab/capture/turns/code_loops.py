"""For each instruction of a code object, the loop whose turn it is a part of."""

from __future__ import annotations

import dis
import linecache
from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType
from typing import Final

from paddle_lab.capture.turns.source_loops import SourceFile, SourceLoop, Span

IS_HEADER: Final = 1
"""What fetches the next value, or computes the condition: before the body of the turn."""
IS_REPEATING: Final = 2
"""A call that may call others several times."""

_NEXT: Final = ("FOR_ITER", "SEND", "GET_ANEXT")


@dataclass
class Loop:
    """A loop of one code object.

    Attributes
    ----------
    key
        Row of the record's table ``loops``.
    parent
        The loop around it, by its number in the same code object; -1 for none.
    level
        How many loops are around it.
    order
        Where it stands among the instructions: its first one's order.
    names
        Variables that the body leaves alone: where one changes, a turn begins.
    shown
        Variables of which one may be shown beside the turn.
    name
        Key of the name that its turns' scopes have.
    around
        Variables that change only while the loop is not running: see :class:`SourceLoop`.
    counts
        Whether ``names[0]`` counts the turns.
    start
        The counter's value in the first turn; None where the source does not tell.
    step
        What each turn adds to it.
    stepped_after
        The order behind which the counter has the next turn's value.
    """

    key: int
    name: int
    parent: int
    level: int
    order: int
    names: tuple[str, ...]
    shown: tuple[str, ...]
    around: tuple[str, ...]
    counts: bool
    start: int | None
    step: int
    stepped_after: int


@dataclass
class CodeLoops:
    """What is known of a code object before it runs.

    Attributes
    ----------
    name
        Key of the name that scopes of its calls have; -1 where calls are no scopes.
    loop, order, flags
        One entry an instruction (``f_lasti // 2``): the innermost loop whose turn it belongs to,
        -1 for none; its place among the others of the code as a turn comes by them; and
        :data:`IS_HEADER`, :data:`IS_REPEATING`.
    """

    name: int
    loop: array[int] = field(default_factory=lambda: array("i"))
    order: array[int] = field(default_factory=lambda: array("i"))
    flags: array[int] = field(default_factory=lambda: array("i"))
    loops: list[Loop] = field(default_factory=list)


@lru_cache(maxsize=64)
def _parsed(text: str) -> SourceFile | None:
    try:
        return SourceFile(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def source_loops(code: CodeType) -> tuple[SourceFile, list[SourceLoop]] | None:
    """Return the file of a code object and the loops in it; None where the source is not known."""
    if "for" not in (text := "".join(linecache.getlines(code.co_filename))) and "while" not in text:
        return None
    source = _parsed(text)
    if source is None:
        return None
    owner = _owner(source, code)
    if owner is None and code.co_name != "<module>":
        return None
    return source, [loop for loop in source.loops if loop.owner is owner]


def place(
    code: CodeType,
    source: SourceFile,
    loops: list[SourceLoop],
    keys: list[tuple[int, int]],
    found: CodeLoops,
) -> None:
    """Fill in which instruction belongs to which loop.

    Parameters
    ----------
    code
        The code object.
    source
        Its file.
    loops, keys
        Its loops; the row in the table ``loops`` and the key of the name of each.
    found
        What to fill.
    """
    # A loop comes after those around it.
    order = sorted(range(len(loops)), key=lambda at: _outer_first(loops[at].whole))
    loops = [loops[at] for at in order]
    spans = _positions(code)
    names = _operations(code, len(spans))
    innermost = [
        _loop_at(loops, span, is_next=names[unit] in _NEXT) for unit, span in enumerate(spans)
    ]
    places = _orders(source, spans)
    found.loop = array("i", [loop for loop, _ in innermost])
    found.order = array("i", places)
    found.flags = array(
        "i",
        [
            IS_HEADER * is_header + IS_REPEATING * (span in source.repeating)
            for (_, is_header), span in zip(innermost, spans, strict=True)
        ],
    )
    for number, loop in enumerate(loops):
        parent = _loop_around(loops, number)
        units = [unit for unit, (inside, _) in enumerate(innermost) if inside == number]
        counter = loop.counter
        stepped = -1
        if counter is not None and counter.stepped_after is not None:
            behind = [
                places[unit] for unit, span in enumerate(spans) if span[:2] >= counter.stepped_after
            ]
            stepped = min(behind, default=1 << 30)
        found.loops.append(
            Loop(
                key=keys[order[number]][0],
                name=keys[order[number]][1],
                parent=parent,
                level=0 if parent < 0 else found.loops[parent].level + 1,
                order=min((places[unit] for unit in units), default=0),
                names=(counter.name,) if counter else tuple(loop.names),
                shown=tuple(loop.target),
                around=tuple(loop.around),
                counts=bool(counter and counter.step),
                start=counter.start if counter else None,
                step=(counter.step or 0) if counter else 0,
                stepped_after=stepped,
            )
        )


def _owner(source: SourceFile, code: CodeType) -> object | None:
    """Return the node whose code this is: the smallest of its name around its instructions."""
    if code.co_name == "<module>":
        return None
    spans = [span for span in _positions(code) if span[0] > 0]
    named = [(span, node) for name, span, node in source.owners if name == code.co_name]
    for at in spans:
        around = [(span, node) for span, node in named if _contains(span, at) and span != at]
        if around:
            return max(around, key=lambda found: found[0][:2])[1]
    return None


def _positions(code: CodeType) -> list[Span]:
    """Return where each instruction stands; zeros where Python does not tell."""
    if hasattr(code, "co_positions"):
        return [
            (line or 0, column or 0, end_line or 0, end_column or 0)
            for line, end_line, column, end_column in code.co_positions()
        ]
    spans: list[Span] = [(0, 0, 0, 0)] * (len(code.co_code) // 2)
    for start, end, line in code.co_lines():
        # No columns before Python 3.11: as if each were a point on its line.
        at = (line or 0, 0, line or 0, 0)
        spans[start // 2 : end // 2] = [at] * ((end - start) // 2)
    return spans


def _operations(code: CodeType, count: int) -> list[str]:
    names = [""] * count
    for instruction in dis.get_instructions(code):
        names[instruction.offset // 2] = instruction.opname
    return names


def _contains(outer: Span, inner: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _is_in_body(loop: SourceLoop, at: Span) -> bool:
    if at[1:] == (0, at[0], 0):  # a line without columns
        return any(body[0] <= at[0] <= body[2] for body in loop.bodies)
    return any(_contains(body, at) for body in loop.bodies)


def _loop_at(loops: list[SourceLoop], at: Span, *, is_next: bool) -> tuple[int, bool]:
    """Return the innermost loop that an instruction belongs to, and whether to its header."""
    for number in range(len(loops) - 1, -1, -1):
        loop = loops[number]
        if loop.is_while:
            if _contains(loop.header, at) and at[0] > 0:
                return number, True
        elif is_next and at in (loop.whole, loop.header):
            return number, True
        if _is_in_body(loop, at):
            return number, False
    return -1, False


def _loop_around(loops: list[SourceLoop], number: int) -> int:
    whole = loops[number].whole
    for outer in range(number - 1, -1, -1):
        inner = whole if loops[outer].whole != whole else loops[number].header
        if any(_contains(body, inner) for body in loops[outer].bodies):
            return outer
    return -1


def _outer_first(span: Span) -> Span:
    return span[0], span[1], -span[2], -span[3]


def _orders(source: SourceFile, spans: list[Span]) -> list[int]:
    """Return the instructions' order: by statement, as they stand in the source, then by offset.

    An instruction that leaves a ``with`` stands where the statement begins, and runs when it ends.
    """
    statements = sorted(source.statements, key=_outer_first)
    starts = [span[:2] for span in statements]
    keys: list[tuple[tuple[int, int], int]] = []
    is_inside: set[Span] = set()
    for unit, at in enumerate(spans):
        keys.append((_statement(statements, starts, at), unit))
        for whole, body in source.withs:
            if at != whole:
                if _contains(body, at):
                    is_inside.add(whole)
            elif whole in is_inside:
                keys[-1] = (whole[2:], unit)
    ranks = [0] * len(keys)
    for rank, (_, unit) in enumerate(sorted(keys)):
        ranks[unit] = rank
    return ranks


def _statement(statements: list[Span], starts: list[tuple[int, int]], at: Span) -> tuple[int, int]:
    number = bisect_left(starts, (at[0], at[1] + 1)) - 1
    while number >= 0 and not _contains(statements[number], at):
        if starts[number][0] < at[0] - 400:
            break
        number -= 1
    return starts[number] if number >= 0 else at[:2]
