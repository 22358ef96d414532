"""``trace.value`` and ``trace.gradient`` through and inside compiled programs.

The oracle is the same code without ``to_static``: its ops return the same values, bit for bit.
"""

from __future__ import annotations

from typing import Any

import paddle
import pytest

import paddle_lab
from tests.models.static import Branching
from tests.replay.kept import KeepingLog


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
        layer = paddle.jit.to_static(build(), full_graph=full_graph)
        optimizer = paddle.optimizer.AdamW(0.01, parameters=layer.parameters())
        with paddle_lab.trace(replay=True, check="none") as self.trace:
            for step in range(3):
                data = paddle.randn([5 + step % 2, 4])  # two programs for two shapes
                data.stop_gradient = False
                self.step(layer, data)
                optimizer.step()
                optimizer.clear_grad()

    @staticmethod
    def step(layer: Any, data: Any) -> None:
        """Run forward and backward."""
        (layer(data * 0.7) * 0.3).square().mean().backward()


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


def test_control_flow():
    layer = paddle.jit.to_static(Branching(), full_graph=True)
    with paddle_lab.trace(replay=True, check="none") as trace:
        for _ in range(2):
            layer(paddle.randn([4, 6])).square().mean().backward()
    assert trace.value([op.name for op in trace.ops].index("square")).shape == (4, 6)
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
    trace.value([op.name for op in trace.ops].index("mean"))
    trace.gradient(0)
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
