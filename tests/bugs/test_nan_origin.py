"""Where NaN begins, what is no alarm, and what Paddle's own check says of the same code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.nn import functional as F

import paddle_lab
from paddle_lab.trace.record import Record
from tests.bugs.bug_file import run_bug

CELLS = Path(__file__).parent / "cells"


def findings_of(work):
    with paddle_lab.trace(check="nan-origin") as trace:
        work()
    assert not trace.record.origin.notices
    return trace.findings


def scores():
    hidden = nn.Linear(6, 6)(paddle.randn([2, 5, 6]))
    return hidden, paddle.bmm(hidden, hidden.transpose([0, 2, 1]))


def added_causal_mask():
    hidden, raw = scores()
    mask = paddle.triu(paddle.full([5, 5], float("-inf")), 1)
    paddle.bmm(F.softmax(raw + mask), hidden).mean().backward()


def filled_mask():
    hidden, raw = scores()
    raw = raw.masked_fill(paddle.tril(paddle.ones([5, 5])) == 0, float("-inf"))
    paddle.bmm(F.softmax(raw), hidden).mean().backward()


def mask_from_numpy():
    hidden, raw = scores()
    mask = paddle.to_tensor(np.triu(np.full([5, 5], -np.inf, "float32"), 1))
    paddle.bmm(F.softmax(raw + mask), hidden).mean().backward()


def mask_in_a_buffer():
    class Masked(nn.Layer):
        def __init__(self):
            super().__init__()
            self.project = nn.Linear(4, 4)
            self.register_buffer("mask", paddle.triu(paddle.full([4, 4], float("-inf")), 1))

        def forward(self, x):
            return F.softmax(self.project(x) + self.mask)

    Masked()(paddle.randn([4, 4])).square().mean().backward()


def logarithm_of_a_mask():
    _, raw = scores()
    allowed = paddle.to_tensor([1.0, 1.0, 0.0, 1.0, 0.0])
    F.softmax(raw + paddle.log(allowed)).square().sum().backward()


def least_of_all_so_far():
    best = paddle.full([], float("inf"))
    for _ in range(3):
        loss = nn.Linear(4, 1)(paddle.randn([5, 4])).square().mean()
        loss.backward()
        best = paddle.minimum(best, loss.detach())


def logits_cut_to_the_top():
    with paddle.no_grad():
        logits = nn.Linear(8, 20)(paddle.randn([1, 8]))
        least = paddle.topk(logits, 5)[0][:, -1:]
        logits[logits < least] = float("-inf")


def forward_algorithm():
    alpha = paddle.full([3], float("-inf"))
    alpha[0] = 0.0
    for emission in nn.Linear(3, 3)(paddle.randn([5, 3])):
        alpha = paddle.logsumexp(alpha.unsqueeze(1) + emission.unsqueeze(0), axis=0)
    paddle.logsumexp(alpha, 0).backward()


def class_masked_in_cross_entropy():
    logits = nn.Linear(3, 6)(paddle.randn([4, 3]))
    logits = paddle.where(paddle.arange(6) > 3, paddle.full([], float("-inf")), logits)
    F.cross_entropy(logits, paddle.to_tensor([0, 1, 2, 3])).backward()


def ignored_labels():
    logits = nn.Linear(8, 5)(paddle.randn([4, 8]))
    F.cross_entropy(logits, paddle.to_tensor([1, -100, 2, -100]), ignore_index=-100).backward()


def memory_written_to_later():
    held = paddle.empty([1000, 10])
    held[:] = 1.0
    (held + paddle.zeros_like(held)).sum()


def places_kept_free():
    history = paddle.full([5], float("nan"))
    history[0] = 1.0
    return paddle.nanmean(history)


def data_that_is_mended():
    data = paddle.to_tensor([1.0, float("nan"), 3.0])
    data = paddle.where(paddle.isnan(data), paddle.zeros_like(data), data)
    nn.Linear(3, 1)(data).sum().backward()


def guarded_loss():
    loss = nn.Linear(3, 3)(paddle.randn([4, 3])).mean()
    if bool(paddle.isfinite(loss)):
        loss.backward()


def recurrent_evaluation():
    layer = nn.LSTM(4, 5, num_layers=2, direction="bidirect")
    layer.eval()
    layer(paddle.randn([2, 6, 4]))


HEALTHY = [
    added_causal_mask, filled_mask, mask_from_numpy, mask_in_a_buffer, logarithm_of_a_mask,
    least_of_all_so_far, logits_cut_to_the_top, forward_algorithm, class_masked_in_cross_entropy,
    ignored_labels, memory_written_to_later, places_kept_free, data_that_is_mended, guarded_loss,
    recurrent_evaluation,
]  # fmt: skip


@pytest.mark.parametrize("work", HEALTHY, ids=lambda work: work.__name__)
def test_healthy_code_is_no_alarm(work):
    assert findings_of(work) == []


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
    assert "除数的 3 个值中有 1 个(33%)是 0" in finding.message
    assert "`paddle.where(b != 0, b, paddle.ones_like(b))`" in finding.advice


ORACLE = """
import runpy, sys, traceback
import paddle
paddle.set_flags({"FLAGS_check_nan_inf": 1})
try:
    runpy.run_path(sys.argv[1])
except Exception as error:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == sys.argv[1]]
    print("STOPPED", frames[-1].lineno, str(error).replace(chr(10), " "))
"""


@pytest.mark.parametrize(
    "name",
    ["nan_exp", "nan_divide", "nan_float16", "nan_where", "nan_pylayer", "nan_norm_grad"],
)
def test_paddles_own_check_stops_at_the_same_op(name):
    path = CELLS / f"{name}.py"
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ORACLE, str(path)],
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    stopped = re.search(r"STOPPED (?P<line>\d+) .*\bop=(?P<op>\w+)", told)
    assert stopped, told

    trace, _ = run_bug(path, check="nan-origin")
    (finding,) = trace.findings
    name_of_op = trace.ops[finding.op].name
    in_backward = finding.grad_node >= 0
    assert stopped["op"] == (f"{name_of_op}_grad" if in_backward else name_of_op)
    # Of what happens in backward it names the line of the backward call.
    if trace.ops[finding.op].phase == "forward" and not in_backward:
        assert int(stopped["line"]) == finding.line
