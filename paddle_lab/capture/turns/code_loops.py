"""Finds the loop iteration to which each instruction of a code object belongs."""

from __future__ import annotations

import dis
import inspect
import os
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import count
from types import CodeType
from typing import Any, Final

from paddle_lab.capture.stacks.code_positions import told_positions
from paddle_lab.capture.stacks.edited_files import source_of
from paddle_lab.capture.stacks.frame_kinds import USER, is_own, kind_of
from paddle_lab.capture.turns.loops import IS_HEADER, IS_REPEATING, CodeLoops, Loop, Span
from paddle_lab.capture.turns.source_loops import SourceFile

LoopRow = tuple[str, int, str]
"""file, line, words."""

_NO_CALLS: Final = ("<module>", "forward", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Names of code whose calls are not groups: cells, layers' ``forward``, comprehensions."""
_TAKES_ANYTHING: Final = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
"""``def wrapper(*args, **kwargs)`` of a decorator: its call says less than the one inside it."""
_PADDLES_TRAINING_LOOPS: Final = os.path.join("hapi", "model.py")
_TRAINING_LOOPS: Final = {"fit": (), "_run_one_epoch": ("train", "eval", "predict")}
"""Methods in this file that run the user's epochs and steps, and the values of their ``mode``."""
_NEXT: Final = {dis.opmap[name] for name in ("FOR_ITER", "SEND", "GET_ANEXT") if name in dis.opmap}


class CodeDescriber:
    """Finds the loops of a code object, and whether its calls become groups.

    Parameters
    ----------
    paddle
        The paddle module.
    loops
        The dictionary to which the loops are added, by key.
    name_key
        Returns the key of a scope's name.
    """

    def __init__(
        self, paddle: Any, loops: dict[int, LoopRow], name_key: Callable[[str], int]
    ) -> None:
        self._paddle_folder = os.path.join(os.path.dirname(os.path.abspath(paddle.__file__)), "")
        self._loops = loops
        self._next_key = count().__next__  # two threads may find loops at the same time
        self._name_key = name_key

    def __call__(self, code: CodeType) -> CodeLoops | None:
        """Return the loops of a code object, ``None`` if its calls and loops are not recorded."""
        file = code.co_filename
        is_users = kind_of(file, self._paddle_folder) == USER and not is_own(file)
        is_fit = file.endswith(_PADDLES_TRAINING_LOOPS) and code.co_name in _TRAINING_LOOPS
        if not is_users and not is_fit:
            return None
        is_wrapper = code.co_freevars and code.co_flags & _TAKES_ANYTHING == _TAKES_ANYTHING
        is_group = is_users and code.co_name not in _NO_CALLS and not is_wrapper
        name = getattr(code, "co_qualname", code.co_name)
        found = CodeLoops(self._name_key(_short(name)) if is_group else -1)
        try:
            self._add_loops(code, found, () if is_users else _TRAINING_LOOPS[code.co_name])
        except Exception:  # noqa: BLE001  (a source that has changed; the op is recorded all the same)
            found = CodeLoops(found.name)
        return found if found.loops or is_group else None

    def _add_loops(self, code: CodeType, found: CodeLoops, modes: tuple[str, ...]) -> None:
        text, code, lines = source_of(code)
        placed = _placed(code, text)
        found.units = placed.units
        for loop in placed.loops:
            key, name = self._next_key(), self._name_key(loop.words)
            shown = ("mode",) if modes else loop.shown
            found.loops.append(replace(loop, key=key, name=name, shown=shown, modes={}))
            line = lines.get(loop.line, loop.line)
            self._loops[key] = code.co_filename, line, loop.words
            for mode in modes:
                found.loops[-1].modes[mode] = key = self._next_key()
                self._loops[key] = code.co_filename, line, f"{mode} {loop.words}"


@lru_cache(maxsize=256)
def _placed(code: CodeType, text: str) -> CodeLoops:
    """Return the loops of a code object, without the keys that they have in a trace."""
    placed = CodeLoops(-1)
    source = _parsed(text) if "for" in text or "while" in text else None
    if source is None:
        return placed
    spans = _positions(code)
    owner = _owner(source, code, spans)
    if owner is None and code.co_name != "<module>":
        return placed
    loops = _told_loops(source.loops.get(owner, []))
    if not loops:
        return placed
    innermost = [
        _loop_at(loops, span, is_next=opcode in _NEXT)
        for opcode, span in zip(code.co_code[::2], spans, strict=True)
    ]
    orders = _orders(source, spans)
    for (loop_number, is_header), order, span in zip(innermost, orders, spans, strict=True):
        flags = IS_HEADER * is_header + IS_REPEATING * (span in source.repeating)
        placed.units.extend((loop_number, order, flags))
    for number, loop in enumerate(loops):
        parent = _loop_around(loops, number)
        inside = (order for order, (at, _) in zip(orders, innermost, strict=True) if at == number)
        behind = (
            order
            for order, span in zip(orders, spans, strict=True)
            if loop.step_end is not None and span[:2] >= loop.step_end
        )
        placed.loops.append(
            replace(
                loop,
                parent=parent,
                level=0 if parent < 0 else placed.loops[parent].level + 1,
                order=min(inside, default=0),
                stepped_after=-1 if loop.step_end is None else min(behind, default=1 << 30),
            )
        )
    return placed


@lru_cache(maxsize=64)
def _parsed(text: str) -> SourceFile | None:
    try:
        return SourceFile(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _owner(source: SourceFile, code: CodeType, spans: list[Span]) -> Any:
    """Return the syntax node of a code object: the smallest with its name and its instructions."""
    if code.co_name == "<module>":
        return None
    named = [(span, node) for name, span, node in source.owners if name == code.co_name]
    # A comprehension begins with its own position. A statement at a function's position defines it.
    is_whole = code.co_name in _NO_CALLS
    for at in [span for span in spans if span[3] > 0] or spans:
        around = [
            (span, node) for span, node in named if _contains(span, at) and (is_whole or span != at)
        ]
        if around and at[0] > 0:
            return max(around, key=lambda found: found[0][:2])[1]
    return None


def _positions(code: CodeType) -> list[Span]:
    """Return the source position of each instruction; zeros if Python does not have it.

    Before Python 3.11 there are no columns, so each instruction is a point on its line.
    """
    return [
        (line or 0, column or 0, end_line or 0, end_column or 0)
        for line, end_line, column, end_column in told_positions(code)
    ]


def _contains(outer: Span, inner: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _loop_at(loops: list[Loop], at: Span, *, is_next: bool) -> tuple[int, bool]:
    """Return the innermost loop of an instruction, and whether it is in the loop's header."""
    has_columns = at[1:] != (0, at[0], 0)
    for number in range(len(loops) - 1, -1, -1):
        loop = loops[number]
        if loop.is_while:
            if _contains(loop.header, at) and at[0] > 0:
                return number, True
        elif is_next and at in (loop.whole, loop.header):
            return number, True
        for body in loop.bodies:
            if _contains(body, at) if has_columns else body[0] <= at[0] <= body[2]:
                return number, False
    return -1, False


def _loop_around(loops: list[Loop], number: int) -> int:
    whole = loops[number].whole
    for outer in range(number - 1, -1, -1):
        inner = whole if loops[outer].whole != whole else loops[number].header
        if any(_contains(body, inner) for body in loops[outer].bodies):
            return outer
    return -1


def _told_loops(loops: list[Loop]) -> list[Loop]:
    """Return the loops whose iterations can be told, outer loops first.

    If no variable tells the iterations of a loop, a loop inside it must show that it begins again.
    If it does not, neither these two loops nor the loops inside them are returned.
    """
    around = [_loop_around(loops, number) for number in range(len(loops))]
    untold = {
        outer
        for inner, outer in zip(loops, around, strict=True)
        if outer >= 0 and not (loops[outer].names or inner.counts or inner.around)
    }
    for number, outer in enumerate(around):
        if outer in untold:
            untold.add(number)
    return [loop for number, loop in enumerate(loops) if number not in untold]


def _orders(source: SourceFile, spans: list[Span]) -> list[int]:
    """Return the order in which instructions run: by statement, then by offset.

    The instruction that leaves a ``with`` statement has the position of the statement's start, but
    it runs at the end of the statement.
    """
    keys: list[tuple[int, int]] = []
    entered: set[Span] = set()
    for unit, at in enumerate(spans):
        line = source.statement_lines.get(at[0], at[0])
        for whole, body in source.withs:
            if _contains(body, at):
                entered.add(whole)
            elif at == whole and whole in entered:
                line = whole[2]
        keys.append((line, unit))
    orders = [0] * len(keys)
    for order, (_, unit) in enumerate(sorted(keys)):
        orders[unit] = order
    return orders


def _short(function: str) -> str:
    owner, _, name = function.rpartition(".")
    if name == "__init__" and owner:
        name = owner.rpartition(".")[2]
    return "lambda" if name == "<lambda>" else name
