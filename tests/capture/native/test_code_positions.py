"""Positions of instructions, compared with Python's own."""

from __future__ import annotations

import sys

import numpy as np

from paddle_lab.capture.stacks.code_positions import NO_COLUMN, positions_of

LONG = "def long(x):\n" + "".join(f"    x = x.tanh({i})\n" for i in range(400)) + "    return x\n"
SPREAD = "def spread(x):\n    return (x.y(\n\n        x))\n"


def positions(source: str):
    code = compile(source, "<source>", "exec").co_consts[0]
    return positions_of(code, np.arange(0, len(code.co_code), 2))


def test_a_long_function_is_told_line_by_line():
    told = positions(LONG)
    assert set(range(2, 402)) <= set(told.line.tolist())
    assert told.end_line.tolist() == told.line.tolist()
    if sys.version_info >= (3, 11):
        assert told.column.min() >= NO_COLUMN
        assert told.end_column.max() == len("    x = x.tanh(399)")


def test_a_call_over_several_lines_has_both_ends():
    told = positions(SPREAD)
    if sys.version_info >= (3, 11):
        assert (2, 4) in zip(told.line.tolist(), told.end_line.tolist(), strict=True)


def test_no_instructions_have_no_positions():
    code = compile(LONG, "<source>", "exec").co_consts[0]
    assert [len(column) for column in positions_of(code, np.array([], np.int64))] == [0] * 4
