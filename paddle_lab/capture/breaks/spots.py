"""Where SOT stands in the user's code while it translates.

SOT simulates bytecode. After a break it goes on in a function that it has made of the rest of the
bytecode. The lines of such a function drift, and it has no columns. So an instruction of it is
found again in the code that the user wrote.
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
    """Its name."""


def present_spots() -> list[Spot]:
    """Return where the running translation stands: the innermost function first."""
    return [spot_of(executor) for executor in islice(_executors(_getframe()), _MOST_EXECUTORS)]


def _executors(frame: FrameType | None) -> Iterator[Any]:
    # SOT's own list of executors also has those that an exception has ended.
    run = DOOR.sot_executor.run.__code__
    while frame is not None:
        if frame.f_code is run:
            yield frame.f_locals["self"]
        frame = frame.f_back


def spot_of(executor: Any, instruction: Any = None) -> Spot:
    """Return where an executor stands, or where an instruction of it is in the user's code."""
    frame, instructions = DOOR.executor_frame(executor), DOOR.executor_instructions(executor)
    index = frame.lasti - 1 if instruction is None else instructions.index(instruction)
    return _written(frame.code, max(index, 0))


def line_of(executor: Any) -> tuple[CodeType, int]:
    """Return the function that the user wrote, and the line in it where an executor stands."""
    code = DOOR.executor_frame(executor).code
    if not code.co_name.startswith("$"):
        return code, executor._current_line
    spot = spot_of(executor)
    return spot.code, int(positions_of(spot.code, np.array([spot.offset])).line[0])


def first_spot(code: CodeType) -> Spot:
    """Return the first line of a function."""
    return _written(code, 0)


def written_code(code: CodeType) -> CodeType:
    """Return the code that the user wrote, for code that SOT has made of a part of it."""
    makers = {made: origin for (_, origin, *_), made in DOOR.resumed_codes.items()}
    while code in makers:
        code = makers[code]
    return code


@lru_cache(maxsize=4096)
def _written(code: CodeType, index: int) -> Spot:
    instructions = DOOR.instructions_of(code)
    makers = {made: key for key, made in DOOR.resumed_codes.items()}
    while code in makers:
        _, origin, start, *end = makers[code]
        outer = DOOR.instructions_of(origin)
        index = (_in_loop if end else _in_rest)(instructions, index, outer, start)
        code, instructions = origin, outer
    return Spot(code, instructions[index].offset or 0, instructions[index].opname)


def _in_rest(inner: Sequence[Any], index: int, outer: Sequence[Any], start: int) -> int:
    """Return an instruction's position in the function of which ``inner`` is the rest.

    The ends are the same. SOT may have removed pairs of loads and stores.
    """
    at = len(outer)
    for one in reversed(inner[index:]):
        at -= 1
        while at > start and not _are_same(outer[at], one):
            at -= 1
    return max(at, start)


def _in_loop(inner: Sequence[Any], index: int, outer: Sequence[Any], start: int) -> int:
    """Return an instruction's position in the function of which ``inner`` is a loop's body."""
    names = [one.opname for one in inner]
    at = start - 1
    for one in inner[names.index("FOR_ITER") : index + 1]:
        at += 1
        while at < len(outer) - 1 and not _are_same(outer[at], one):
            at += 1
    return min(max(at, start), len(outer) - 1)


def _are_same(one: Any, other: Any) -> bool:
    both_jump = "JUMP" in one.opname and "JUMP" in other.opname
    return both_jump or one.opname == other.opname
