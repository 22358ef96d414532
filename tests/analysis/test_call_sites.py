"""Groups where there are no layers."""

from __future__ import annotations

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
        with w.call("block", line=line):
            two_ops(w)
    w.op("mean", line=8)
    assert tree(w.record()) == ["full", BLOCK, BLOCK, BLOCK, "mean"]


def test_few_ops_stay_flat():
    w = RecordWriter()
    for line in (5, 6, 7):
        with w.call("block", line=line):
            two_ops(w)
    assert tree(w.record()) == ["matmul", "relu"] * 3


def test_each_call_from_a_loop_is_a_group():
    w = RecordWriter()
    for _ in range(4):
        with w.call("block", line=5):
            two_ops(w)
    w.op("mean", line=6)
    assert tree(w.record()) == [BLOCK] * 4 + ["mean"]


def test_turns_of_a_loop_are_groups():
    w = RecordWriter()
    w.op("full", line=1)
    for _ in range(4):
        two_ops(w, line=3)
    w.op("mean", line=6)
    turns = [[f"iteration {i}", "matmul", "relu"] for i in (1, 2, 3, 4)]
    assert tree(w.record()) == ["full", *turns, "mean"]


def test_two_loops_are_told_apart():
    w = RecordWriter()
    for _ in range(3):
        two_ops(w, line=3)
    for _ in range(2):
        two_ops(w, line=6)
    labels = [group[0] for group in tree(w.record())]
    assert labels == [*(f"iteration {i}" for i in (1, 2, 3)), "iteration 1", "iteration 2"]


def test_calls_and_loops_nest():
    w = RecordWriter()
    for _ in range(2):
        with w.call("train_step", line=5):
            for _ in range(3):
                with w.call("block", line=10):
                    two_ops(w)
            with w.layer("net"):
                w.op("linear", line=11)
            w.op("loss", line=12)
        w.op("print", line=6)
    w.op("mean", line=7)
    step = ["train_step(…)", BLOCK, BLOCK, BLOCK, ["net", "linear"], "loss"]
    assert tree(w.record()) == [
        ["iteration 1", step, "print"],
        ["iteration 2", step, "print"],
        "mean",
    ]


def test_a_call_that_is_all_there_is_is_no_group():
    w = RecordWriter()
    with w.call("main", line=9):
        for line in (5, 6, 7, 8):
            with w.call("block", line=line):
                two_ops(w)
    assert tree(w.record()) == [BLOCK] * 4


def test_no_group_holds_a_single_op():
    w = RecordWriter()
    for line in range(10):
        with w.call("activation", line=line):
            w.op("relu", line=40)
    assert tree(w.record()) == ["relu"] * 10


def test_a_call_around_one_layer_is_no_group():
    w = RecordWriter()
    for line in range(8):
        with w.call("Net.forward", line=line, file="net.py"), w.layer(f"fc{line}"):
            two_ops(w)
    assert tree(w.record()) == [[f"fc{i}", "matmul", "relu"] for i in range(8)]


def test_two_layers_called_on_one_line_are_no_group():
    w = RecordWriter()
    for line in range(4):
        for name in ("inner", "outer"):
            with w.layer(f"{name}{line}"), w.call("Net.forward", line=line, file="net.py"):
                two_ops(w, line=20 if name == "inner" else 30)
    assert [group[0] for group in tree(w.record())] == [
        f"{name}{line}" for line in range(4) for name in ("inner", "outer")
    ]


def test_a_function_that_only_calls_another_is_one_group():
    w = RecordWriter()
    for line in (5, 6, 7, 8):
        with w.call("outer", line=line), w.call("inner", line=10):
            two_ops(w)
    assert tree(w.record()) == [["outer(…)", "matmul", "relu"]] * 4


def test_a_layers_constructor_is_named_by_its_class():
    w = RecordWriter()
    for line in (5, 6, 7, 8):
        with w.call("PINN.__init__", line=line):
            two_ops(w)
    assert tree(w.record()) == [["PINN(…)", "matmul", "relu"]] * 4


def test_a_comprehension_is_no_function():
    w = RecordWriter()
    for _ in range(4):
        with w.call("<listcomp>", line=5), w.call("block", line=5):
            two_ops(w)
    w.op("stack", line=5)
    assert tree(w.record()) == [*[BLOCK] * 4, "stack"]


def test_paddles_own_functions_make_no_groups():
    w = RecordWriter()
    for line in (5, 6, 7, 8):
        with w.call("linear", line=line, file="paddle/nn/functional.py", kind="paddle"):
            two_ops(w)
    assert tree(w.record()) == ["matmul", "relu"] * 4


def test_a_crowded_layer_is_divided_and_others_are_not():
    w = RecordWriter()
    with w.layer("crowded"), w.call("Net.forward", line=1):
        for _ in range(21):
            two_ops(w, line=3)
    with w.layer("small"), w.call("Net.forward", line=2):
        for _ in range(20):
            two_ops(w, line=3)
    crowded, small = tree(w.record())
    assert crowded == ["crowded", *([f"iteration {i}", "matmul", "relu"] for i in range(1, 22))]
    assert small == ["small", *["matmul", "relu"] * 20]


def test_an_optimizer_step_is_not_divided():
    w = RecordWriter()
    with w.scope("optimizer", "Adam"):
        for _ in range(30):
            two_ops(w)
    assert tree(w.record()) == [["Adam", *["matmul", "relu"] * 30]]


LOOP_INSIDE = """def train():
    for i in range(5):
        x = x @ w
        x = relu(x)
train()"""
LOOP_OUTSIDE = """def step():
    # one step
    x = x @ w
    x = relu(x)
for i in range(5): step()"""


def called(function: str, text: str, *, is_alone: bool = True) -> list:
    w = RecordWriter()
    if text:
        w.row("sources", file="cell", cell=4, first_line=1, text=text)
    for _ in range(5):
        with w.call(function, line=5):
            two_ops(w, line=3)
    if not is_alone:
        w.op("mean", line=6)
    return [group if isinstance(group, str) else group[0] for group in tree(w.record())]


def test_the_source_tells_a_loop_from_calls_among_other_ops():
    assert called("train", LOOP_INSIDE, is_alone=False) == ["train(…)", "mean"]
    assert called("step", LOOP_OUTSIDE, is_alone=False) == [*["step(…)"] * 5, "mean"]


def test_the_source_tells_a_loop_from_calls():
    assert called("train", LOOP_INSIDE) == [f"iteration {i}" for i in range(1, 6)]
    assert called("step", LOOP_OUTSIDE) == ["step(…)"] * 5
    assert called("step", "") == ["step(…)"] * 5


def test_hostile_source_is_only_text():
    deep = "(" * 100_000 + "\n" * 5
    assert called("step", deep) == ["step(…)"] * 5


def test_deep_recursion_of_the_users_is_cut_off():
    w = RecordWriter()
    calls = []
    for depth in range(300):
        calls.append(w.call("visit", line=depth + 10))
        calls[-1].__enter__()
        w.op("add", line=depth + 11)
        w.op("relu", line=depth + 12)
    groups, depth = tree(w.record()), 0
    while isinstance(groups[-1], list):
        groups, depth = groups[-1], depth + 1
    assert 3 <= depth <= 8
    # The contexts are closed innermost first, as a real run would.
    for call in reversed(calls):
        call.__exit__(None, None, None)


def test_a_turn_that_does_more_than_others_is_still_one():
    w = RecordWriter()
    for turn in range(3):
        with w.layer("net"):
            w.op("linear", line=3)
        if turn == 2:
            w.op("log", line=4)
        with w.scope("optimizer", "Adam"):
            if turn == 0:
                w.op("full_", line=5)
            w.op("adam_", line=5)
    w.op("mean", line=6)
    net, adam = ["net", "linear"], ["Adam", "adam_"]
    assert tree(w.record()) == [
        ["iteration 1", net, ["Adam", "full_", "adam_"]],
        ["iteration 2", net, adam],
        ["iteration 3", net, "log", adam],
        "mean",
    ]
