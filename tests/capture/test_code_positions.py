"""Positions read from Python's own table are those that ``co_positions`` tells."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import numpy as np
import pytest

import paddle_lab
from paddle_lab.capture.code_positions import NO_COLUMN, positions_of, told_by_list, told_by_table

SOURCES = [
    *sorted(Path(paddle_lab.__file__).parent.glob("a*/**/*.py")),
    Path(linecache.__file__).with_name("argparse.py"),
    Path(linecache.__file__).with_name("typing.py"),
]
WIDE = "def wide(x):\n    return (" + " " * 200 + "x.y(\n\n\n\n\n\n        x))\n"
LONG = "def long(x):\n" + "".join(f"    x = x.tanh({i})\n" for i in range(400)) + "    return x\n"


def codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def all_offsets(code: CodeType) -> np.ndarray:
    return np.arange(0, len(code.co_code), 2)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells lines only")
def test_the_table_and_the_list_tell_the_same():
    texts = [*(path.read_text(encoding="utf-8") for path in SOURCES), WIDE, LONG]
    for text in texts:
        for code in codes_in(compile(text, "<source>", "exec")):
            offsets = all_offsets(code)
            by_table, by_list = told_by_table(code, offsets), told_by_list(code, offsets)
            for name, column in by_list._asdict().items():
                assert getattr(by_table, name).tolist() == column.tolist(), (code, name)


def test_a_long_function_is_told_line_by_line():
    (code,) = list(codes_in(compile(LONG, "<source>", "exec")))[1:]
    told = positions_of(code, all_offsets(code))
    assert set(range(2, 402)) <= set(told.line.tolist())
    assert told.end_line.tolist() == told.line.tolist()
    if sys.version_info >= (3, 11):
        assert told.column.min() >= NO_COLUMN
        assert told.end_column.max() == len("    x = x.tanh(399)")
