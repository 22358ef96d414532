"""``trace.value`` and ``trace.gradient`` through and inside compiled programs.

The oracle is the same code without ``to_static``: its ops return the same values, bit for bit.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import paddle
import pytest

import paddle_lab
from paddle_lab.replayed_values import _place_inside
from tests.models.static import Branching
from tests.replay.kept import KeepingLog

_INNER = {"dropout 1", "layer_norm 1", "layer_norm 2", "rnn 4", "assign 0", "batch_norm_ 5"}
"""Outputs that eager ops do not return: masks, for example."""


@pytest.fixture(autouse=True)
def _values_are_kept(monkeypatch):
    monkeypatch.setattr("paddle_lab.capture.session.CallLog", KeepingLog)


class Normed(paddle.nn.Layer):
    """BatchNorm in training mode, dropout, and a list."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = self.create_parameter([4, 8])
        self.norm = paddle.nn.BatchNorm1D(8)
        self.drop = paddle.nn.Dropout(0.5)

    def forward(self, data):
        """Return three columns of numbers."""
        hidden = self.norm(paddle.matmul(data, self.weight))
        first, second = paddle.split(self.drop(paddle.tanh(hidden)), 2, axis=1)
        summed = first * second + 1.0
        return summed.exp().sum(axis=1) - second.cos().mean() * hidden.sum(axis=1)


class Recurrent(paddle.nn.Layer):
    """An op with several outputs and random numbers of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = paddle.nn.LSTM(4, 8, num_layers=2, dropout=0.3)

    def forward(self, data):
        """Return the last outputs."""
        return self.cells(data.unsqueeze(0))[0][:, -1]


BUILDS: dict[str, Any] = {
    "normed": Normed,
    "recurrent": Recurrent,
}


class Run:
    """Some training steps under a trace, and what each began with."""

    def __init__(self, build: Any, *, full_graph: bool) -> None:
        paddle.seed(5)
        self.build = build
        layer = paddle.jit.to_static(build(), full_graph=full_graph)
        optimizer = paddle.optimizer.AdamW(0.01, parameters=layer.parameters())
        self.begun = []
        with paddle_lab.trace(replay=True, check="none") as self.trace:
            for step in range(3):
                data = paddle.randn([5 + step % 2, 4])  # two programs for two shapes
                data.stop_gradient = False
                state = {name: one.numpy().copy() for name, one in layer.state_dict().items()}
                self.begun.append((data.numpy().copy(), state, paddle.get_rng_state()))
                self.step(layer, data)
                optimizer.step()
                optimizer.clear_grad()

    @staticmethod
    def step(layer: Any, data: Any) -> None:
        """Run forward and backward."""
        (layer(data * 0.7) * 0.3).square().mean().backward()

    def eager(self) -> tuple[Any, Any]:
        """Run the same steps without ``to_static``. Return the bytes of values and gradients."""
        values, gradients = defaultdict(set), defaultdict(set)
        for array, state, random in self.begun:
            layer = self.build()
            layer.set_state_dict(state)
            data = paddle.to_tensor(array, stop_gradient=False)
            paddle.set_rng_state(random)
            with paddle_lab.trace(replay=True, check="none") as trace:
                self.step(layer, data)
            log = trace._replay.log
            for kept, arrays in (
                (values, (one for outputs in log.outputs.values() for one in outputs)),
                (gradients, log.gradients.values()),
            ):
                for one in arrays:
                    if one is not None:
                        kept[one.shape].add(one.tobytes())
        return values, gradients


@pytest.mark.parametrize(
    ("name", "full_graph"), [("normed", True), ("normed", False), ("recurrent", True)]
)
def test_values_around_and_inside_are_those_of_the_run(name, full_graph):
    run = Run(BUILDS[name], full_graph=full_graph)
    trace, log = run.trace, run.trace._replay.log
    rows = [row for row, op in enumerate(trace.ops) if op.name not in ("full_", "adamw_")]
    rows += [row for row, op in enumerate(trace.ops) if op.name == "adamw_"][-2:]
    for row in rows:
        array = log.outputs[int(log.row_keys[row])][0]
        assert trace.value(row).tobytes() == array.tobytes(), (row, trace.ops[row].name)
    members = trace.view_record.backward_members
    pairs = [*zip(members["grad_node"].tolist(), members["backward_call"].tolist(), strict=True)]
    for node, call in pairs:
        op = int(trace.record.grad_nodes["op"][node])
        array = log.gradients.get((int(log.row_keys[op]), 0, call)) if op >= 0 else None
        if array is not None:
            assert trace.gradient(node, call=call).tobytes() == array.tobytes(), (node, call)
    seen = [
        (f"{name} {output} {at}", trace.value(key, output, run=at))
        for key, name, runs in inside(trace, "ops")
        for output in range(outputs_of(trace, key))
        for at in range(runs)
        if f"{name} {output}" not in _INNER
    ]
    passed = [
        (name, trace.gradient(key))
        for key, name, _ in inside(trace, "grad_nodes")
        if name not in ("full_like", "add_n")
    ]
    values, gradients = run.eager()
    assert len(seen) > 5
    assert len(passed) > 3
    wrong = [name for name, one in seen if one.tobytes() not in values[one.shape]]
    wrong += [name for name, one in passed if one.tobytes() not in gradients[one.shape]]
    assert wrong == []


def inside(trace: Any, table: str) -> list[tuple[int, str, int]]:
    """Return the keys of ops or grad nodes inside programs, their names, and their runs."""
    drawn, start = trace._drawn_record, len(trace.record.tables[table])
    names = drawn.tables[table]["name"].tolist()
    runs = trace.record.programs["program"].tolist()
    return [
        (key, drawn.text(names[key]), runs.count(_place_inside(trace.record, table, key)[0]))
        for key in range(start, len(names))
    ]


def outputs_of(trace: Any, key: int) -> int:
    """Return how many outputs an op inside a program has."""
    uses = trace._drawn_record.uses
    return int(((uses["op"] == key) & (uses["role"] == 1)).sum())


def written(data):
    """Write into memory that an earlier op made."""
    doubled = data * 2
    return paddle.nn.functional.relu_(doubled) + doubled


def test_a_value_is_that_of_its_op_although_a_later_op_writes_into_its_memory():
    data = paddle.to_tensor([-1.0, 2.0])
    function = paddle.jit.to_static(written, full_graph=True)
    with paddle_lab.trace(replay=True, check="none") as trace:
        result = function(data)
        _ = data + 1
    values = {name: trace.value(key).tolist() for key, name, _ in inside(trace, "ops")}
    names = [op.name for op in trace.ops]
    assert trace.value(names.index("run_program")).tolist() == result.tolist()
    assert values["scale"] == [-2, 4]
    assert trace.value(names.index("add")).tolist() == [0, 3]


def test_control_flow():
    layer = paddle.jit.to_static(Branching(), full_graph=True)
    with paddle_lab.trace(replay=True, check="none") as trace:
        for _ in range(2):
            layer(paddle.randn([4, 6])).square().mean().backward()
    names = {name: key for key, name, _ in inside(trace, "ops")}
    assert trace.value(names["greater_than"]).shape == ()
    assert trace.value([op.name for op in trace.ops].index("square")).shape == (4, 6)
    with pytest.raises(paddle_lab.ReplayError, match="inside an `if`"):
        trace.value(names["matmul"])  # the last one
    with pytest.raises(paddle_lab.ReplayError, match="does not run backward"):
        trace.gradient(0)


def test_a_click_changes_nothing_that_a_program_reads():
    paddle.seed(1)
    layer = paddle.jit.to_static(Normed(), full_graph=True)
    with paddle_lab.trace(replay=True, check="none") as trace:
        layer(paddle.randn([5, 4])).mean().backward()

    def state() -> list[Any]:
        tensors = [
            *layer.state_dict().values(),
            *(one.grad for one in layer.parameters() if one.grad is not None),
        ]
        return [
            *(one.numpy().tobytes() for one in tensors),
            *str(paddle.get_rng_state()[0]).split()[4:],
        ]

    before = state()
    trace.value(inside(trace, "ops")[-1][0])
    trace.gradient(0)
    trace.gradient(inside(trace, "grad_nodes")[-1][0])
    assert state() == before
    assert paddle.in_dynamic_mode()


def test_runs_hold_nothing_more():
    layer = paddle.jit.to_static(Normed(), full_graph=True)
    held = []
    for count in (2, 6):
        with paddle_lab.trace(replay=True, check="none") as trace:
            for _ in range(count):
                layer(paddle.ones([5, 4]))
        held.append(len(trace._replay.log.held.by_number))
    assert held[0] == held[1]


def test_a_layer_whose_to_static_is_off():
    norm = paddle.nn.BatchNorm1D(3)
    layer = paddle.jit.to_static(paddle.nn.Sequential(norm), full_graph=True)
    paddle.jit.enable_to_static(False)
    try:
        with paddle_lab.trace(replay=True, check="none") as trace:
            for _ in range(2):
                _ = norm._mean + 1
                layer(paddle.rand([5, 3]))
            _ = norm._mean + 1
    finally:
        paddle.jit.enable_to_static(True)
    log = trace._replay.log
    rows = [row for row, op in enumerate(trace.ops) if op.name == "add"]
    values = [trace.value(row).tolist() for row in rows]
    assert values == [log.outputs[int(log.row_keys[row])][0].tolist() for row in rows]
    assert values[0] != values[1] != values[2]
