"""The native part finds the scopes that Python finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paddle
import pytest

import paddle_lab
from paddle_lab.analysis.answers import with_answers
from paddle_lab.capture.native import NATIVE
from paddle_lab.capture.turns.turns import TurnTracker
from paddle_lab.trace.record import Record
from tests.loops.generated import program

pytestmark = pytest.mark.skipif(NATIVE is None, reason="needs the native part")
_SEEDS = range(60)


def _recorded(seed: int, path: Path) -> Record:
    linear = paddle.nn.Linear(4, 4)
    given = {"x": paddle.ones([2, 4]), "linear": linear, "region": paddle_lab.region}
    given |= {"paddle": paddle, "__name__": "__main__"}
    code = compile(path.read_text(), str(path), "exec")
    with paddle_lab.trace(check="none") as trace:
        exec(code, given)
        given.clear()  # closes generators; their ops would crash Paddle when Python exits
    return trace.record


def _scopes(record: Record) -> list[Any]:
    tables = [record.scopes, record.turns]
    columns = [{name: table[name].tolist() for name in table.columns} for table in tables]
    names = [record.text(name) for name in columns[0].pop("name")]
    return [columns, names, record.ops["scope"].tolist()]


@pytest.mark.parametrize("seed", _SEEDS)
def test_scopes_are_those_that_python_finds_at_each_op(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "program.py"
    path.write_text(program(seed))
    fast = _recorded(seed, path)
    find = TurnTracker.find_scope

    def find_and_forget(self: TurnTracker, *args: Any) -> int:
        found = find(self, *args)
        self.last_scope.forget()
        return found

    monkeypatch.setattr(TurnTracker, "find_scope", find_and_forget)
    assert _scopes(fast) == _scopes(_recorded(seed, path))


def test_python_is_not_asked_at_each_call_and_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    find = TurnTracker.find_scope

    def counted(self: TurnTracker, *args: Any) -> int:
        nonlocal asked
        asked += 1
        return find(self, *args)

    def plain(x: Any) -> Any:
        return x + 1

    def doubled(x: Any) -> Iterator[Any]:
        for part in range(20):
            x = plain(x * 2)
            yield x + part

    monkeypatch.setattr(TurnTracker, "find_scope", counted)
    x = paddle.ones([2])
    with paddle_lab.trace(check="none"):
        for _ in range(20):
            x = plain(plain(x))
        step = 0
        while step < 20:
            x = x * 2
            step += 1
        while True:
            x = plain(x) + 1
            step -= 1
            if not step:
                break
        for one, other in zip(doubled(x), (plain(part) for part in doubled(x)), strict=True):
            x = plain(one + other)
    assert asked < 20


def test_a_generator_is_suspended_in_two_traces() -> None:
    x = paddle.ones([2])
    inner = paddle_lab.trace(check="none")

    def parts() -> Iterator[Any]:
        for part in "abcdefgh":  # a loop without a counter
            if part == "c":
                inner.__enter__()
            if part == "f":
                inner.__exit__(None, None, None)
            yield x * ord(part)

    with paddle_lab.trace(check="none") as trace:
        for whole in parts():
            whole + 1
    view = with_answers(trace.record)
    labels = [view.text(label) for label in view.groups["label"].tolist()]
    assert [label for label in labels if label.startswith("part ")] == [
        f"part {turn}" for turn in range(1, 9)
    ]


def test_more_generators_than_can_be_set_aside() -> None:
    x = paddle.ones([2])
    with paddle_lab.trace(check="none") as trace:
        made = [(x * part for part in range(1, 4)) for _ in range(12)]
        for parts in zip(*made, strict=True):
            sum(parts)
    view = with_answers(trace.record)
    labels = [view.text(label) for label in view.groups["label"].tolist()]
    assert [labels.count(f"part {turn}") for turn in (1, 2, 3)] == [12, 12, 12]
