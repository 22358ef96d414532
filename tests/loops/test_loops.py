"""The recorded iterations of loops are the iterations that the program itself counts."""

from __future__ import annotations

import sys

import paddle
import pytest

import paddle_lab
from paddle_lab.analysis.answers import with_answers
from paddle_lab.capture.native import NATIVE
from paddle_lab.capture.turns import turns
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import GROUP_KINDS
from tests.loops import generator_programs  # noqa: F401  (it adds programs)
from tests.loops.ledger import Ledger, Turns
from tests.loops.programs import PROGRAMS

_TURN = GROUP_KINDS.index("turn")

reads_variables = pytest.mark.skipif(
    NATIVE is None and sys.version_info < (3, 13),
    reason="functions' variables are read natively before Python 3.13",
)


def turns_of_ops(record: Record) -> list[Turns]:
    """Return, for each op, the labels of the turns around it, outermost first."""
    view = with_answers(record)
    labels = [view.text(code) for code in view.groups["label"].tolist()]
    kinds, parents = view.groups["kind"].tolist(), view.groups["parent"].tolist()
    found: list[Turns] = []
    for innermost in view.op_groups["group"].tolist():
        group, turns = innermost, list[str]()
        while group >= 0:
            if kinds[group] == _TURN:
                turns.insert(0, labels[group])
            group = parents[group]
        found.append(tuple(turns))
    return found


def described(turns: list[Turns], record: Record) -> list[str]:
    """Return one line per op, for people to read."""
    names = [record.text(code) for code in record.ops["name"].tolist()]
    return [f"{name}: {' / '.join(around)}" for name, around in zip(names, turns, strict=False)]


# Python 3.10 does not record columns. So loops on one line are not distinguished, and neither are
# ops in the header of a loop.
NEED_COLUMNS = {
    "batches_that_are_no_numbers",
    "a_while_whose_condition_is_computed",
    "comprehensions",
    "nested_loops_with_one_variable",
    "a_comprehension_in_a_comprehension",
    "a_comprehension_in_a_loop",
    "a_sum_over_a_generator_expression",
    "one_line_loops",
    "a_loop_over_a_tensor",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_iteration_is_told_where_variables_cannot_be_read(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "can_read_variables", lambda _: False)
    with paddle_lab.trace(check="none") as trace:
        PROGRAMS[name](Ledger())
    assert set(turns_of_ops(trace.record)) <= {()}


@pytest.mark.skipif(
    NATIVE is None and sys.version_info < (3, 13),
    reason="functions' variables are read natively before Python 3.13",
)
@pytest.mark.parametrize("keeps_answers", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_turns_are_those_of_the_program(
    name: str, keeps_answers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not keeps_answers:  # then Python is asked at each op
        monkeypatch.setattr(turns.TurnTracker, "_to_keep", lambda *_: None)
    if name in NEED_COLUMNS and sys.version_info < (3, 11):
        pytest.skip("Python 3.10 tells no columns")
    ledger = Ledger()
    with paddle_lab.trace(check="none") as trace:
        PROGRAMS[name](ledger)
    told = turns_of_ops(trace.record)
    assert described(told, trace.record) == described(ledger.ops, trace.record)
    assert len(told) == len(ledger.ops)


@reads_variables
def test_a_value_is_shown_only_if_the_body_does_not_change_the_variable() -> None:
    with paddle_lab.trace(check="none") as trace:
        for kept in (5, 7):
            for changed in (5, 7):
                changed = changed * 10  # noqa: PLW2901
                paddle.ones([kept]) * changed
    view = with_answers(trace.record)
    values = {
        (view.text(label), view.text(value))
        for label, value in zip(view.groups["label"], view.groups["value"], strict=True)
    }
    assert values == {("kept 1", "5"), ("kept 2", "7"), ("changed 1", ""), ("changed 2", "")}
