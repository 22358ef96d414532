"""Finds which instruction of the user's code SOT is translating.

SOT simulates bytecode. After a break, SOT makes a function of the remaining bytecode and continues
in this function. The line numbers of such a function are inexact, and columns are missing. So its
instructions are looked up in the code that the user wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from sys import _getframe
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.stacks.code_positions import positions_of

_MOST_EXECUTORS = 64


class Spot(NamedTuple):
    """An instruction in code that the user wrote."""

    code: CodeType
    offset: int
    """Byte offset of the instruction."""
    operation: str
    """The name of the instruction."""


def present_spots() -> list[Spot]:
    """Return which instructions are being translated, the innermost function first."""
    return [spot_of(executor) for executor in islice(_executors(_getframe()), _MOST_EXECUTORS)]


def _executors(frame: FrameType | None) -> Iterator[Any]:
    # SOT's own list of executors also contains executors that an exception has ended.
    run = DOOR.sot_executor.run.__code__
    while frame is not None:
        if frame.f_code is run:
            yield frame.f_locals["self"]
        frame = frame.f_back


def spot_of(executor: Any, instruction: Any = None) -> Spot:
    """Return where an executor's current instruction, or ``instruction``, is in the user's code."""
    frame, instructions = DOOR.executor_frame(executor), DOOR.executor_instructions(executor)
    index = frame.lasti - 1 if instruction is None else instructions.index(instruction)
    return _written(frame.code, max(index, 0))


def line_of(executor: Any) -> tuple[CodeType, int]:
    """Return the function that the user wrote, and the line that an executor is translating."""
    code = DOOR.executor_frame(executor).code
    if not code.co_name.startswith("$"):
        return code, executor._current_line
    spot = spot_of(executor)
    return spot.code, _lines(spot.code)[spot.offset // 2]


@lru_cache(maxsize=64)
def _lines(code: CodeType) -> list[int]:
    """Return the line of each 2-byte code unit."""
    units = np.arange(0, len(code.co_code), 2)
    lines: list[int] = positions_of(code, units).line.tolist()
    return lines


def first_spot(code: CodeType) -> Spot:
    """Return the first line of a function."""
    return _written(code, 0)


def written_code(code: CodeType) -> CodeType:
    """Return the user's code from which SOT made ``code``; ``code`` itself if not from SOT."""
    while (maker := _maker(code)) is not None:
        code = maker[1]
    return code


def _maker(code: CodeType) -> Any:
    """Return the key in SOT's cache of a function that SOT made; ``None`` for the user's."""
    return next((key for key, made in DOOR.resumed_codes.items() if made == code), None)


@lru_cache(maxsize=64)
def _instructions(code: CodeType) -> list[Any]:
    found: list[Any] = DOOR.instructions_of(code)
    return found


def _written(code: CodeType, index: int) -> Spot:
    while (made := _made_of(code)) is not None:
        code, positions = made
        index = positions[index]
    instruction = _instructions(code)[index]
    return Spot(code, instruction.offset or 0, instruction.opname)


@lru_cache(maxsize=64)
def _made_of(code: CodeType) -> tuple[CodeType, list[int]] | None:
    """Return the code from which SOT made a function, and the positions of its instructions."""
    maker = _maker(code)
    if maker is None:
        return None
    _, origin, start, *end = maker
    align = _in_loop if end else _in_rest
    return origin, align(_instructions(code), _instructions(origin), start)


def _in_rest(inner: Sequence[Any], outer: Sequence[Any], start: int) -> list[int]:
    """Return the instructions' positions in ``outer``, whose remaining part became ``inner``.

    Both end with the same instructions. SOT may have removed pairs of loads and stores.
    """
    at, positions = len(outer), []
    for one in reversed(inner):
        at -= 1
        while at > start and not _are_same(outer[at], one):
            at -= 1
        at = max(at, start)
        positions.append(at)
    return positions[::-1]


def _in_loop(inner: Sequence[Any], outer: Sequence[Any], start: int) -> list[int]:
    """Return the instructions' positions in ``outer``, which has the loop with body ``inner``."""
    begin = [one.opname for one in inner].index("FOR_ITER")
    at, positions = start - 1, [start] * begin
    for one in inner[begin:]:
        at += 1
        while at < len(outer) - 1 and not _are_same(outer[at], one):
            at += 1
        at = min(at, len(outer) - 1)
        positions.append(at)
    return positions


def _are_same(one: Any, other: Any) -> bool:
    both_jump = "JUMP" in one.opname and "JUMP" in other.opname
    return both_jump or one.opname == other.opname
