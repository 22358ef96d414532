"""If a line has several statements, only the statement that ran is quoted."""

from __future__ import annotations

import sys

import paddle
import pytest

import paddle_lab
from paddle_lab.analysis.findings.finding import Place
from paddle_lab.analysis.source.statements import statement_at

COLUMNS = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells no columns")


@pytest.mark.parametrize(
    ("line", "marked", "statement"),
    [
        ("    a = f(x); b = g(a)", "g(a)", "b = g(a)"),
        ("    a = f(x); b = g(a)", "f(x)", "a = f(x)"),
        ("a = f(x);", "f(x)", "a = f(x);"),
        ("a = f(';'); b = g('a; b')  # c; d", "g(", "b = g('a; b')"),
        ("a = f(x)  # why", "f(x)", "a = f(x)  # why"),
        ("def f(x): return F.relu(net(x))", "F.relu", "return F.relu(net(x))"),
        ("for x in xs: y = f(x); z = y", "f(x)", "y = f(x)"),
        ("for x in h(xs): y = f(x)", "h(xs)", "for x in h(xs):"),
        ("async with a as b: y = f(x)", "f(x)", "y = f(x)"),
        ("if lambda: 1: y = f(x)", "f(x)", "y = f(x)"),
        ("if (n := f(x)) > {1: 2}[1]: y = n[1:2]", "f(x)", "if (n := f(x)) > {1: 2}[1]:"),
        ("if n := f(x): y = n", "f(x)", "if n := f(x):"),
        ("else: a = f(x); b = g(x)", "g(x)", "b = g(x)"),
        ("f = lambda x: g(x)", "g(x)", "f = lambda x: g(x)"),
        ("a: int = f(x); b = 1", "f(x)", "a: int = f(x)"),
        # What began or ends in another line.
        ("    x); b = g(a)", "g(a)", "b = g(a)"),
        ("a = 1; b = g(a,", "g(a", "b = g(a,"),
        ('a = 1; b = g(a, """', "g(a", "b = g(a,"),
        ("é = f(x); ü = g(é)", "g(é)", "ü = g(é)"),
        ("", "", ""),
        ("$ not Python; at all", "at", "at all"),
    ],
)
def test_the_statement_that_ran(line: str, marked: str, statement: str) -> None:
    assert statement_at(line, line.index(marked)) == statement


@COLUMNS
def test_a_finding_quotes_the_statement_and_not_the_line() -> None:
    x = paddle.zeros([3])
    x.stop_gradient = False
    with paddle_lab.trace(check="all") as trace:
        a = paddle.exp(x) * 0; b = paddle.log(a - 1)  # fmt: skip  # noqa: E702
        b.sum().backward()
    (found,) = [one for one in trace.findings if one.kind == "nan-origin"]
    assert "`b = paddle.log(a - 1)` (" in found.message
    assert "paddle.exp" not in found.message


@COLUMNS
def test_a_line_quoted_twice_is_two_statements() -> None:
    w = paddle.ones([3])
    w.stop_gradient = False
    with paddle_lab.trace() as trace:
        h = w * 2; y = h**2; h[1:2] = 3.3  # fmt: skip  # noqa: E702
        loss = y.sum()
        with pytest.raises(RuntimeError):
            loss.backward()
    (found,) = [one for one in trace.findings if one.kind == "inplace-modified"]
    assert "`h[1:2] = 3.3` (" in found.message
    assert "`y = h**2` (" in found.message
    assert ";" not in found.message


def test_the_line_is_the_place_whatever_ran_of_it() -> None:
    assert Place("a.py", 3, None, "x = 1") == Place("a.py", 3, None, "y = 2")


@COLUMNS
def test_a_frame_tells_both() -> None:
    with paddle_lab.trace() as trace:
        a = paddle.ones([2]); b = a + 1; b.sum()  # fmt: skip  # noqa: E702
    add = next(op for op in trace.ops if op.name == "add")
    frame = next(frame for frame in add.stack if frame.kind == "user")
    assert frame.statement == "b = a + 1"
    assert frame.text.startswith("a = paddle.ones([2]); b = a + 1; b.sum()")
