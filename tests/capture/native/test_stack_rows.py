"""Stacks as rows: each frame and each stack once, the outermost first."""

from __future__ import annotations

import sys
from array import array
from itertools import accumulate, chain
from pathlib import Path
from types import CodeType

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core import interactiveshell

import paddle_lab
from paddle_lab.capture.stacks.stack_rows import StackRows
from tests.capture.native.twins import on_both_twins

OWN, RUNNER = Path(paddle_lab.__file__).parent / "garbage.py", interactiveshell.__file__


def code_in(file: str, name: str = "f") -> CodeType:
    return compile(f"def {name}(): pass", file, "exec").co_consts[0]


# For each code object: whether it is shown, and whether frames outside of it are left out.
CODES = [
    (code_in("model.py"), True, False),
    (code_in("model.py", "g"), True, False),
    (code_in("model.py"), True, False),  # once more the same
    (code_in(str(OWN)), False, False),
    (code_in(RUNNER, "run"), True, True),
]
assert CODES[0][0] == CODES[2][0]
FRAMES = st.lists(st.tuples(st.sampled_from(range(len(CODES))), st.integers(-1, 3)), max_size=6)


class Taken:
    """Stacks as a pool has them."""

    def __init__(self, stacks: list[tuple[int, list[tuple[int, int]]]]) -> None:
        self.codes = {id(code): code for code, _, _ in CODES}
        cells = [
            [anchor, *chain.from_iterable((id(CODES[code][0]), at) for code, at in frames)]
            for anchor, frames in stacks
        ]
        self._cells = array("q", chain.from_iterable(cells))
        self._starts = array("q", accumulate(map(len, cells), initial=0))

    def taken(self) -> tuple[bytes, bytes]:
        return self._cells.tobytes(), self._starts.tobytes()


class Read:
    """The same, one stack after another as one reads them."""

    def __init__(self, stacks: list[tuple[int, list[tuple[int, int]]]]) -> None:
        self._taken = stacks
        self.frames: dict[tuple[str, int], int] = {}
        self.stacks: dict[tuple[int, int], int] = {}
        self._rows = {-1: -1}

    def row(self, stack: int) -> int:
        if stack in self._rows:
            return self._rows[stack]
        anchor, frames = self._taken[stack]
        row = self.row(anchor)
        if anchor == -1:
            runners = [at for at, (code, _) in enumerate(frames) if CODES[code][2]]
            frames = frames[: runners[0]] if runners else frames
        for code, at in reversed(frames):
            if CODES[code][1]:
                frame = self.frames.setdefault((CODES[code][0].co_name, at), len(self.frames))
                # What runs a cell is shown where it was called from a layer.
                row = self.stacks.setdefault((frame, row), len(self.stacks))
        self._rows[stack] = row
        return row


@st.composite
def stacks_and_questions(draw):
    frames = draw(st.lists(FRAMES, min_size=1, max_size=12))
    stacks = [(draw(st.integers(-1, number - 1)), one) for number, one in enumerate(frames)]
    asked = st.lists(st.integers(-1, len(stacks) - 1), max_size=12)
    return stacks, draw(st.lists(asked, max_size=4))


@settings(max_examples=300)
@given(stacks_and_questions())
def test_many_at_once_are_as_one_after_another(drawn):
    stacks, questions = drawn
    rows, read = StackRows(Taken(stacks)), Read(stacks)
    for asked in questions:
        expected = [read.row(stack) for stack in asked]
        assert rows.rows(np.array(asked, np.int64)).tolist() == expected
    assert [(rows.codes[code].co_name, at) for code, at in rows.frames()] == list(read.frames)
    assert rows.stacks() == list(read.stacks)


@on_both_twins
def test_a_pool_tells_the_stacks_that_were_taken(parts):
    pool = parts.StackPool()
    outer = sys._getframe()

    def inner():
        return pool.take(sys._getframe(), outer, 0)

    assert [pool.take(outer, outer.f_back, -1), inner(), inner()] == [0, 1, 1]
    cells, starts = (np.frombuffer(given, np.int64).tolist() for given in pool.taken())
    assert starts == [0, 3, 6]
    assert (cells[0], cells[3]) == (-1, 0)
    assert pool.codes == {cells[1]: outer.f_code, cells[4]: inner.__code__}


@on_both_twins
def test_a_new_stack_is_seen_where_older_ones_have_rows(parts):
    pool, outer = parts.StackPool(), sys._getframe()
    rows = StackRows(pool)
    pool.take(outer, outer.f_back, -1)
    rows.rows(np.array([0]))
    again = pool.take(outer, outer.f_back, 0)
    assert rows.rows(np.array([0, again, -1])).tolist() == [0, 1, -1]
    assert rows.stacks() == [(0, -1), (1, 0)]
