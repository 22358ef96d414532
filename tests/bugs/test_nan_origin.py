"""Where NaN begins, compared with Paddle's own check of the same code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import paddle
import pytest
from paddle import nn

import paddle_lab
from paddle_lab.trace.record import Record
from tests.bugs.bug_file import run_bug
from tests.bugs.nan_findings import findings_of

CELLS = Path(__file__).parent / "cells"


def test_nan_that_is_masked_away_is_information():
    def masked_away():
        x = paddle.to_tensor([-1.0, 2.0], stop_gradient=False)
        paddle.where(x > 0, paddle.log(x), paddle.zeros_like(x)).sum().backward()

    (finding,) = findings_of(masked_away)
    assert finding.severity == "info"


def test_a_parameter_that_was_nan_before_is_named():
    net = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))
    net[1].weight.set_value(paddle.full([2, 1], float("nan")))

    (finding,) = findings_of(lambda: net(paddle.ones([1, 3])).sum().backward())
    assert finding.severity == "error"
    assert "1.weight" in finding.message


def test_a_graph_from_before_the_trace_is_told_by_its_backward_call():
    x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
    loss = (paddle.sqrt(x) * 0).sum()

    (finding,) = findings_of(lambda: run_backward(loss))
    assert "SqrtGradNode" in finding.message
    assert finding.code.strip() == "loss.backward()"


def run_backward(loss):
    loss.backward()


def make_step(optimizer):
    optimizer.step()


def test_a_gradient_that_was_nan_before_is_told_where_it_is_read():
    layer = nn.Linear(2, 2)
    optimizer = paddle.optimizer.SGD(parameters=layer.parameters())
    (layer(paddle.ones([1, 2])) * float("nan")).sum().backward()

    (finding,) = findings_of(lambda: make_step(optimizer))
    assert finding.severity == "error"
    assert "gradient" in finding.message


def test_each_of_several_origins_is_told_once():
    def both_twice():
        for _ in range(2):
            zero = paddle.zeros([2])
            zero.stop_gradient = False
            first = paddle.log(zero) * 0
            second = zero / zero
            (first.sum() + second.sum()).backward()

    lines = [finding.line for finding in findings_of(both_twice)]
    assert len(lines) == 2
    assert lines[1] == lines[0] + 1


def test_the_way_is_marked_from_the_origin_to_the_gradients():
    trace, _ = run_bug(CELLS / "nan_masked_row.py", check="nan-origin")
    (finding,) = trace.findings
    names = [(mark.role, trace.ops[mark.op].name) for mark in finding.marks if mark.grad_node < 0]
    assert names == [("origin", "softmax"), ("path", "bmm"), ("path", "mean")]
    nodes = [mark for mark in finding.marks if mark.grad_node >= 0]
    assert nodes
    assert {mark.role for mark in nodes} == {"path"}


def test_the_way_of_a_gradient_is_marked_from_its_grad_node_to_the_leaves():
    trace, _ = run_bug(CELLS / "nan_norm_grad.py", check="nan-origin")
    (finding,) = trace.findings
    names = [node_name(trace.record, mark.grad_node) for mark in finding.marks]
    assert finding.marks[0].role == "origin"
    assert names[0] == "PowGradNode"
    assert names[1:3] == ["SumGradNode", "SquareGradNode"]
    assert "GradNodeAccumulation" in names


def node_name(record: Record, node: int) -> str:
    return record.text(int(record.grad_nodes["name"][node]))


def test_sentences_are_there_in_chinese():
    paddle_lab.language("zh")
    try:
        trace, _ = run_bug(CELLS / "nan_divide.py", check="nan-origin")
        (finding,) = trace.findings
    finally:
        paddle_lab.language("en")
    assert "除数的 3 个值中有 1 个为 0" in finding.message
    assert "`paddle.where(b != 0, b, paddle.ones_like(b))`" in finding.advice


ORACLE = """
import runpy, sys, traceback
import paddle
paddle.set_flags({"FLAGS_check_nan_inf": 1})
for path in sys.argv[1:]:
    try:
        runpy.run_path(path)
    except Exception as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
        text = str(error).replace(chr(10), " ")
        print("STOPPED", path, frames[-1].lineno, text)
"""
STOPPED_BY_PADDLE = [
    "nan_exp",
    "nan_divide",
    "nan_float16",
    "nan_where",
    "nan_pylayer",
    "nan_norm_grad",
]


@pytest.fixture(scope="module")
def told_by_paddle() -> str:
    """What Paddle's own check says of the cells, all in one process."""
    paths = [str(CELLS / f"{name}.py") for name in STOPPED_BY_PADDLE]
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ORACLE, *paths],
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip


@pytest.mark.parametrize("name", STOPPED_BY_PADDLE)
def test_paddles_own_check_stops_at_the_same_op(told_by_paddle: str, name: str) -> None:
    path = CELLS / f"{name}.py"
    pattern = rf"STOPPED {re.escape(str(path))} (?P<line>\d+) .*\bop=(?P<op>\w+)"
    stopped = re.search(pattern, told_by_paddle)
    assert stopped, told_by_paddle

    trace, _ = run_bug(path, check="nan-origin")
    (finding,) = trace.findings
    name_of_op = trace.ops[finding.op].name
    in_backward = finding.grad_node >= 0
    assert stopped["op"] == (f"{name_of_op}_grad" if in_backward else name_of_op)
    # For ops in backward, Paddle's check names the line of the backward call.
    if trace.ops[finding.op].phase == "forward" and not in_backward:
        assert int(stopped["line"]) == finding.line
