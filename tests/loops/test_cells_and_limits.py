"""Loops in cells, in ``Model.fit`` and with a limit, and what a trace leaves behind."""

from __future__ import annotations

import sys
from typing import Any

import paddle
import pytest
from IPython.core.interactiveshell import InteractiveShell

import paddle_lab
from paddle_lab.analysis.answers import with_answers
from paddle_lab.capture.native import NATIVE
from paddle_lab.capture.turns.turns import TurnTracker
from paddle_lab.views.svg.folding import fold
from tests.loops.test_loops import reads_variables, turns_of_ops


@pytest.fixture
def shell() -> Any:
    shell = InteractiveShell.instance()
    shell.extension_manager.load_extension("paddle_lab")
    yield shell
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, cell: str) -> None:
    shell.run_cell(cell, store_history=True).raise_error()


@reads_variables
@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 tells no columns")
def test_the_loops_of_a_cell_and_of_functions_of_earlier_cells(shell):
    run(shell, "import paddle\ndef train(x):\n    for step in range(2):\n        x = x * 2\n")
    run(
        shell,
        "%%paddle_trace -q -o seen\n"
        "for epoch in range(2):\n"
        "    train(paddle.ones([2]))\n"
        "rates = [paddle.ones([2]) * rate for rate in (0.1, 0.2)]",
    )
    turns = turns_of_ops(shell.user_ns["seen"].record)
    steps = ["step 1", "step 2"]
    assert turns == [
        *(around for epoch in (1, 2) for around in
          [(f"epoch {epoch}",), *((f"epoch {epoch}", step) for step in steps)]),
        *[("rate 1",)] * 2,
        *[("rate 2",)] * 2,
    ]  # fmt: skip


@pytest.mark.skipif(NATIVE is None, reason="needs the native part")
@pytest.mark.parametrize("first", ["%%paddle_trace -q", "with paddle_lab.trace(check='none'):"])
def test_python_is_not_asked_for_the_scope_of_each_op_of_a_cell(shell, monkeypatch, first):
    asked = []
    find = TurnTracker.find_scope

    def noted(self: TurnTracker, *args: Any) -> int:
        asked.append(args)
        return find(self, *args)

    monkeypatch.setattr(TurnTracker, "find_scope", noted)
    run(shell, "import paddle, paddle_lab\nx = paddle.ones([2])")
    indent = "    " * first.startswith("with")
    run(shell, f"{first}\n{indent}for step in range(20):\n{indent}    x = x * 2\n{indent}x + 1\n")
    assert 0 < len(asked) < 5


def test_values_stand_beside_turns(shell):
    run(shell, "import paddle")
    run(
        shell,
        "%%paddle_trace -q -o seen\n"
        "for rate in (0.1, 0.2):\n    paddle.ones([2]) * rate\n"
        "for name, batch in {'a': paddle.ones([1])}.items():\n    batch + 1\n"
        "for batch in [paddle.ones([1])]:\n    batch + 1\n"
        "for day, clicks in [('mon', 3), ('tue', 0.5)]:\n    paddle.ones([1])\n"
        "for batch, _, size in [(paddle.ones([1]), 1, 2)]:\n    batch + size\n",
    )
    view = with_answers(shell.user_ns["seen"].record)
    told = [
        (view.text(label), view.text(value))
        for label, value in zip(
            view.groups["label"].tolist(), view.groups["value"].tolist(), strict=True
        )
    ]
    assert told == [
        ("rate 1", "0.1"), ("rate 2", "0.2"), ("name, batch 1", "a"), ("batch 1", ""),
        ("day, clicks 1", "mon, 3"), ("day, clicks 2", "tue, 0.5"), ("batch, _, size 1", "…, …, 2"),
    ]  # fmt: skip


@reads_variables
def test_a_decorated_call_has_the_functions_name(shell):
    run(
        shell,
        "import functools, paddle\n"
        "def logged(f):\n"
        "    @functools.wraps(f)\n"
        "    def wrapper(*args, **kwargs):\n"
        "        return f(*args, **kwargs)\n"
        "    return wrapper\n"
        "@logged\n"
        "def encode(x):\n"
        "    h = (x * 2).tanh()\n"
        "    return (h + 1).exp() - h.sum() * 3\n"
        "x = paddle.ones([1])",
    )
    run(shell, "%%paddle_trace -q -o seen\nencode(x) + encode(x)")
    view = with_answers(shell.user_ns["seen"].record)
    assert [view.text(label) for label in view.groups["label"]] == ["encode(…)"] * 2


@pytest.mark.parametrize("keep", ["newest", "first", "steps"])
def test_turns_keep_the_numbers_of_the_run_beside_a_limit(keep):
    numbers: dict[int, tuple[str, ...]] = {}
    with paddle_lab.trace(limit=30, keep=keep) as trace:
        count = 0
        for epoch in range(4):
            for step in range(50):
                count += 1
                numbers[count] = (f"epoch {epoch + 1}", f"step {step + 1}")
                paddle.full([2], count) + 1
                paddle_lab.step()
    record = trace.record
    kept = turns_of_ops(record)
    assert len(kept) >= 20
    told = [record.text(code) for code in record.ops["attributes"].tolist()]
    for around, attributes, op in zip(kept, told, trace.ops, strict=True):
        if op.name == "full":
            count = int(attributes.partition("value=")[2].partition(",")[0])
            assert around == numbers[count]


@reads_variables
def test_epochs_and_steps_of_model_fit_say_what_they_are_for():
    class Data(paddle.io.Dataset):
        def __getitem__(self, index):
            return paddle.ones([4]).numpy(), index % 2

        def __len__(self):
            return 4

    model = paddle.Model(paddle.nn.Linear(4, 2))
    model.prepare(
        paddle.optimizer.SGD(0.1, parameters=model.parameters()), paddle.nn.CrossEntropyLoss()
    )
    with paddle_lab.trace() as trace:
        model.fit(Data(), Data(), epochs=2, batch_size=2, verbose=0)
        model.evaluate(Data(), batch_size=4, verbose=0)
        model.predict(Data(), batch_size=4, verbose=0)
    turns = turns_of_ops(trace.record)
    of_linear = [around for around, op in zip(turns, trace.ops, strict=True) if op.name == "linear"]
    assert of_linear == [
        *(
            (f"epoch {n}", f"{mode} step {k}")
            for n in (1, 2)
            for mode in ("train", "eval")
            for k in (1, 2)
        ),
        ("eval step 1",),
        ("predict step 1",),
    ]
    assert {around for around in turns if around} == set(of_linear)


@reads_variables
def test_a_loop_around_the_trace_is_none_of_its_own():
    for _ in range(2):
        with paddle_lab.trace() as trace:
            for step in range(2):
                paddle.ones([2]) * step
    assert {len(around) for around in turns_of_ops(trace.record)} == {1}


def test_a_loop_that_runs_cells_is_no_loop_of_theirs(shell: Any):
    for _ in range(2):
        shell.run_cell("%%paddle_trace -q\nimport paddle\nfor step in (1, 2): paddle.ones([step])")
        turns = turns_of_ops(shell.user_ns["_trace"].record)
        assert turns == [("step 1",), ("step 2",)]


def test_a_picture_has_every_op_of_loops_over_generators():
    def made(count):
        for number in range(count):
            yield paddle.ones([1]) * number

    with paddle_lab.trace() as trace:
        for left, right in zip(made(3), made(3), strict=True):
            left.maximum(right)
    record = trace.view_record
    names, rows = record.ops["name"].tolist(), fold(record).row_of_op.tolist()
    assert min(rows) >= 0
    drawn = {row: {names[op] for op in range(len(names)) if rows[op] == row} for row in rows}
    assert all(len(ops) == 1 for ops in drawn.values())


def test_nothing_is_left_at_the_frames_that_go_on():
    with paddle_lab.trace():
        for step in range(2):
            paddle.ones([2]) * step
    frame = sys._getframe()
    while frame is not None:
        assert frame.f_trace is None
        frame = frame.f_back


def test_a_debugger_has_its_attribute_to_itself():
    lines = []

    def follow(frame, event, _argument):
        lines.append(event)
        return follow

    def traced():
        for step in range(2):
            paddle.ones([2]) * step

    before = sys.gettrace()
    with paddle_lab.trace() as trace:
        sys.settrace(follow)
        try:
            traced()
        finally:
            sys.settrace(before)
    assert lines.count("line") > 4
    assert len(trace.ops) == 4


def test_a_debugger_that_begins_during_a_call_meets_an_answer():
    def traced():
        for step in range(3):
            paddle.ones([2]) * step
            if step == 1:
                sys.settrace(lambda *_: None)

    before = sys.gettrace()
    with paddle_lab.trace() as trace:
        try:
            traced()
        finally:
            sys.settrace(before)
    assert len(trace.ops) == 6


@reads_variables
def test_two_traces_tell_the_same_turns():
    with paddle_lab.trace() as outer, paddle_lab.trace() as inner:
        for step in range(3):
            paddle.ones([2]) * step
    assert turns_of_ops(inner.record) == turns_of_ops(outer.record)
    assert len(set(turns_of_ops(inner.record))) == 3
