"""Which calls and which loop iterations are groups."""

from __future__ import annotations

import pytest

from paddle_lab.analysis.answers import with_answers
from tests.analysis.drawn_tree import tree
from tests.trace.records import RecordWriter


def two_ops(w: RecordWriter, line: int = 20) -> None:
    w.op("matmul", line=line)
    w.op("relu", line=line + 1)


BLOCK = ["block(…)", "matmul", "relu"]


def test_calls_of_ones_own_function_are_groups():
    w = RecordWriter()
    w.op("full", line=1)
    for line in (5, 6, 7):
        with w.function("block", line=line):
            two_ops(w)
    w.op("mean", line=8)
    assert tree(w.record()) == ["full", BLOCK, BLOCK, BLOCK, "mean"]


def test_few_ops_stay_flat():
    w = RecordWriter()
    for line in (5, 6, 7):
        with w.function("block", line=line):
            two_ops(w)
    assert tree(w.record()) == ["matmul", "relu"] * 3


def test_turns_of_a_loop_are_groups_however_few_ops_they_have():
    w = RecordWriter()
    for number in (1, 2):
        with w.turn("step", number):
            w.op("relu")
    w.op("mean")
    assert tree(w.record()) == [["step 1", "relu"], ["step 2", "relu"], "mean"]


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("epoch", "epoch 3"),
        ("x, y", "x, y 3"),
        ("while loss > 1", "while loss > 1 · 3"),
        ("for _ in range(3)", "for _ in range(3) · 3"),
    ],
)
def test_a_turn_is_called_by_the_words_of_its_loop(words, label):
    w = RecordWriter()
    with w.turn(words, 3, value="0.1"):
        two_ops(w)
    view = with_answers(w.record())
    assert view.text(int(view.groups["label"][0])) == label
    assert view.text(int(view.groups["value"][0])) == "0.1"


def test_a_turn_whose_body_did_not_run_is_no_group():
    w = RecordWriter()
    with w.turn("while x", 1):
        w.op("sum")
        w.op("relu")
    with w.scope("turn", "while x"):  # the condition, computed for the last time
        w.op("sum")
    assert tree(w.record()) == [["while x · 1", "sum", "relu"], "sum"]


def test_calls_and_turns_nest():
    w = RecordWriter()
    for epoch in (1, 2):
        with w.turn("epoch", epoch), w.function("train", line=5):
            for step in (1, 2):
                with w.turn("step", step, line=9), w.function("block", line=10):
                    two_ops(w)
            with w.layer("net"):
                w.op("linear", line=11)
    w.op("mean", line=7)
    steps = [["step 1", "matmul", "relu"], ["step 2", "matmul", "relu"]]
    # The group of a call is hidden if it is the only content of a turn.
    assert tree(w.record()) == [
        ["epoch 1", *steps, ["net", "linear"]],
        ["epoch 2", *steps, ["net", "linear"]],
        "mean",
    ]


def test_turns_of_a_layers_loop_over_its_layers_are_called_by_the_layers():
    w = RecordWriter()
    with w.layer("net"):
        for number in (1, 2, 3):
            with w.turn("block", number), w.layer(f"net.blocks.{number - 1}"):
                two_ops(w)
    assert [part[0] for part in tree(w.record())[0][1:]] == ["blocks.0", "blocks.1", "blocks.2"]


@pytest.mark.parametrize("is_inside", [True, False])
def test_turns_that_call_one_layer_again_and_again_stay(is_inside):
    w = RecordWriter()
    with w.layer("net"):
        for number in (1, 2):
            with w.turn("t", number), w.layer("net.cell"):
                two_ops(w)
            if not is_inside:
                w.op("add")
    assert [part[0] for part in tree(w.record())[0][1:] if part != "add"] == ["t 1", "t 2"]


def test_a_loop_over_layers_outside_of_layers_stays():
    w = RecordWriter()
    for number, name in enumerate(("teacher", "student"), 1):
        with w.turn("net", number), w.layer(name):
            two_ops(w)
    assert [part[0] for part in tree(w.record())] == ["net 1", "net 2"]


def test_a_call_that_is_all_there_is_is_no_group():
    w = RecordWriter()
    with w.function("main", line=9):
        for line in (5, 6, 7, 8):
            with w.function("block", line=line):
                two_ops(w)
    assert tree(w.record()) == [BLOCK] * 4


def test_no_call_of_a_single_op_is_a_group():
    w = RecordWriter()
    for line in range(10):
        with w.function("activation", line=line):
            w.op("relu", line=40)
    assert tree(w.record()) == ["relu"] * 10


def test_a_call_around_one_layer_is_no_group():
    w = RecordWriter()
    for line in range(8):
        with w.function("run", line=line), w.layer(f"fc{line}"):
            two_ops(w)
    assert tree(w.record()) == [[f"fc{i}", "matmul", "relu"] for i in range(8)]


def test_a_crowded_layer_is_divided_by_calls_and_others_are_not():
    w = RecordWriter()
    with w.layer("crowded"):
        for line in range(21):
            with w.function("block", line=line):
                two_ops(w)
    with w.layer("small"):
        for line in range(20):
            with w.function("block", line=line):
                two_ops(w)
    crowded, small = tree(w.record())
    assert crowded == ["crowded", *[BLOCK] * 21]
    assert small == ["small", *["matmul", "relu"] * 20]


def test_deep_recursion_makes_a_deep_tree_and_no_error():
    w = RecordWriter()
    calls = []
    for depth in range(300):
        calls.append(w.function("visit", line=depth + 10))
        calls[-1].__enter__()
        w.op("add", line=depth + 11)
        w.op("relu", line=depth + 12)
    groups, depth = tree(w.record()), 0
    while isinstance(groups[-1], list):
        groups, depth = groups[-1], depth + 1
    assert depth == 299
    # The contexts are closed innermost first, as a real run would.
    for call in reversed(calls):
        call.__exit__(None, None, None)
