"""The one sibling that is built differently from many others is found and described."""

from __future__ import annotations

import pytest

from paddle_lab.analysis.answers import with_answers
from paddle_lab.analysis.graph.odd_siblings import OddSibling, odd_siblings
from paddle_lab.trace.record import Record
from paddle_lab.views.text.summary import summary_text
from tests.trace.records import RecordWriter

USUAL = ("matmul", "add", "relu")


def stack_of_blocks(count: int, odd: dict[int, tuple[str, ...]]) -> Record:
    """Blocks one after the other in a net. Blocks in ``odd`` run other ops than the rest."""
    w = RecordWriter()
    x = w.tensor()
    with w.layer("net", "Net"):
        for at in range(count):
            with w.layer(f"net.blocks.{at}", "Block"):
                for name in odd.get(at, USUAL):
                    x = w.op(name, x)
    return with_answers(w.record())


def differences(odd: tuple[str, ...]) -> list[str]:
    return [found.difference for found in odd_siblings(stack_of_blocks(5, {2: odd}))]


def test_the_odd_one_of_many_is_told_with_what_it_has():
    record = stack_of_blocks(96, {47: ("matmul", "dropout", "add", "relu")})
    assert odd_siblings(record) == [
        OddSibling(48, 96, 95, 1, "has dropout, which its siblings have not")
    ]
    sentence = "1 of 96 is built differently: it has dropout, which its siblings have not."
    assert f"  net.blocks.47: {sentence}" in summary_text(record).splitlines()


def test_of_several_odd_ones_each_is_told():
    record = stack_of_blocks(9, {0: ("matmul",) * 2, 8: ("add",) * 4})
    assert [(found.group, found.alike) for found in odd_siblings(record)] == [(1, 7), (9, 7)]
    assert odd_siblings(record)[0].sentence == (
        "2 of 9 are built differently: this one lacks add and relu, which its siblings have; "
        "it has 2 × matmul where they have 1."
    )


@pytest.mark.parametrize(
    ("ops", "difference"),
    [
        (("matmul", "relu"), "lacks add, which its siblings have"),
        (("matmul", "add", "add", "relu"), "has 2 × add where they have 1"),
        (
            ("add", "matmul", "relu"),
            "runs the same ops in another order or connects them in another way",
        ),
        (
            (*USUAL, "a", "b", "c", "d", "e"),
            "has a, b, c and 2 more, which its siblings have not",
        ),
    ],
)
def test_what_differs_is_said(ops, difference):
    assert differences(ops) == [difference]


@pytest.mark.parametrize(
    ("count", "odd"),
    [(3, {1: ("add",) * 2}), (6, {0: ("add",) * 2, 3: ("add",) * 3}), (8, {})],
    ids=["too few are alike", "too many differ", "all are alike"],
)
def test_nobody_is_odd(count, odd):
    assert odd_siblings(stack_of_blocks(count, odd)) == []


def test_a_layer_that_runs_one_op_is_not_compared():
    w = RecordWriter()
    x = w.tensor()
    for at in range(6):
        with w.layer(f"{at}", "Activation"):
            x = w.op("relu" if at else "gelu", x)
    assert odd_siblings(with_answers(w.record())) == []


def test_namesakes_that_are_members_of_no_list_are_no_siblings():
    w = RecordWriter()
    x = w.tensor()
    for turn in range(4):
        with w.turn("it", turn + 1):
            with w.layer("gen", "Sequential"):
                for name in ("linear", "relu", "linear", "tanh"):
                    x = w.op(name, x)
            for _ in range(3):
                with w.layer("dis", "Sequential"):
                    for name in USUAL:
                        x = w.op(name, x)
    assert odd_siblings(with_answers(w.record())) == []


def test_members_of_a_list_are_siblings_in_the_turns_of_a_loop_too():
    w = RecordWriter()
    x = w.tensor()
    with w.layer("net", "Net"):
        for at in range(5):
            with w.turn("block", at + 1):
                with w.layer(f"net.blocks.{at}", "Block"):
                    for name in ("matmul", "relu") if at == 2 else USUAL:
                        x = w.op(name, x)
                x = w.op("add", x)
    found = odd_siblings(with_answers(w.record()))
    assert [(odd.siblings, odd.alike) for odd in found] == [(5, 4)]
