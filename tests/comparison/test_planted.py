"""Twenty edits of a program: the first difference is found, with its line in both traces."""

from __future__ import annotations

import pytest

import paddle_lab
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import COMPARE_STATES
from tests.comparison.planted import EQUAL, PLANTED, Edit, edited, unedited


@pytest.fixture(scope="module")
def before() -> tuple[paddle_lab.Trace, list[str]]:
    return unedited()


@pytest.mark.parametrize("edit", PLANTED, ids=lambda edit: edit.name.replace(" ", "-"))
def test_the_first_difference_is_found_with_both_lines(
    edit: Edit, before: tuple[paddle_lab.Trace, list[str]]
) -> None:
    (trace, lines), (other, other_lines) = before, edited(edit)
    comparison = paddle_lab.compare(trace, other)
    first = comparison.first
    assert first is not None
    assert first.state == edit.state
    assert first.b is None or edit.line in other_lines[first.b.line - 1]
    assert first.a is None or (edit.old_line or edit.line) in lines[first.a.line - 1]
    assert edit.op in ("", first.name)
    assert first.line == (first.b or first.a).line  # type: ignore[union-attr]
    # Every op of both traces has a row, in order.
    for side, of in (("a", trace), ("b", other)):
        keys = [getattr(row, side).key for row in comparison.rows if getattr(row, side)]
        assert keys == list(range(len(of.ops)))
    # The picture has the ops of both traces, each with its line.
    assert len(comparison.ops) == len(comparison.rows)
    assert [op.name for op in comparison.ops] == [row.name for row in comparison.rows]
    assert [op.line for op in comparison.ops] == [row.line for row in comparison.rows]


@pytest.mark.parametrize("edit", EQUAL, ids=lambda edit: edit.name.replace(" ", "-"))
def test_an_edit_without_effect_is_no_difference(
    edit: Edit, before: tuple[paddle_lab.Trace, list[str]]
) -> None:
    comparison = paddle_lab.compare(before[0], edited(edit)[0])
    assert comparison.first is None
    assert {row.state for row in comparison.rows} == {"equal"}


def test_grad_nodes_of_both_traces_are_shown(before: tuple[paddle_lab.Trace, list[str]]) -> None:
    by_name = {edit.name: edit for edit in PLANTED + EQUAL}
    only = {
        "dropped scale": ("only_a", ["ScaleGradNode"] * 2),
        "op inserted": ("only_b", ["ClipGradNode"] * 2),
        "frozen weight": ("only_a", ["GradNodeAccumulation"]),
    }
    for name, (state, nodes) in only.items():
        record = paddle_lab.compare(before[0], edited(by_name[name])[0]).record
        found = _states_of_grad_nodes(record)
        assert found.pop(state) == nodes
        assert found.keys() == {"equal", "different"}
        # A grad node of trace a is drawn next to its op, with its edges.
        last = len(record.grad_nodes) - 1
        ends = record.grad_edges["source"], record.grad_edges["target"]
        assert (last in ends[0]) == (name != "frozen weight")
        assert last in ends[1]
    record = paddle_lab.compare(before[0], edited(by_name["layer renamed"])[0]).record
    assert _states_of_grad_nodes(record).keys() == {"equal"}


def _states_of_grad_nodes(record: Record) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    table = record.compared_grad_nodes
    for node, state in zip(table["grad_node"].tolist(), table["state"].tolist(), strict=True):
        name = record.text(int(record.grad_nodes["name"][node]))
        found.setdefault(COMPARE_STATES[state], []).append(name)
    return found


def test_the_edited_line_is_named(before: tuple[paddle_lab.Trace, list[str]]) -> None:
    by_name = {edit.name: edit for edit in PLANTED}
    told = {}
    for name in ("constant", "weight decay", "op inserted", "no backward"):
        comparison = paddle_lab.compare(before[0], edited(by_name[name])[0])
        told[name] = comparison.record.origin.notices[-1]
    assert "was `score = score * 8 ** -0.5`, now `score = score * 8 ** -1.5`" in told["constant"]
    assert told["weight decay"].startswith("An edit in the recorded sources")
    assert told["op inserted"].startswith("Added at")
    assert "x.clip(-1, 1)" in told["op inserted"]
    assert "removed before" in told["no backward"]
    assert "`loss.backward()`" in told["no backward"]
