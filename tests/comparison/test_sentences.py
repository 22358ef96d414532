"""Edits of an ordinary training script: each sentence about them is true."""

from __future__ import annotations

import linecache
from typing import Any

import paddle
import pytest

import paddle_lab

_PROGRAM = """
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 8)
        self.fc2 = nn.Linear(8, 3)
    def forward(self, x):
        return self.fc2(F.dropout(F.relu(self.fc1(x)), 0.2, training=self.training))

paddle.seed(0)
data = np.random.RandomState(0).randn(12, 6).astype("float32")
order = [0, 1, 2]
net = Net()
opt = paddle.optimizer.Adam(0.01, parameters=net.parameters(), grad_clip=None)
def main():
    for step in range(3):
        x = paddle.to_tensor(data[4 * order[step] : 4 * order[step] + 4])
        logits = net(x)
        loss = logits.square().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
"""
Comparison = paddle_lab.comparing.Comparison


def ran(program: str, file: str, **options: Any) -> paddle_lab.Trace:
    """Trace a program's ``main``, with a digest of each value."""
    linecache.cache[file] = len(program), None, program.splitlines(keepends=True), file
    state = paddle.get_rng_state()
    names: dict[str, Any] = {}
    try:
        exec(compile(program, file, "exec"), names)
        with paddle_lab.trace(digest=True, **options) as trace:
            names["main"]()
    finally:
        paddle.set_rng_state(state)
        del linecache.cache[file]
    return trace


def compared(before: str, after: str) -> Comparison:
    assert _PROGRAM.count(before) == 1
    edited = _PROGRAM.replace(before, after)
    return paddle_lab.compare(ran(_PROGRAM, "<before>"), ran(edited, "<after>"))


def told(comparison: Comparison) -> str:
    return "\n".join(comparison.record.origin.notices)


def test_a_backward_call_that_ran_in_both_is_not_said_to_be_missing() -> None:
    # The first op that differs follows a backward call, and is in one trace only.
    for before, after in (
        ("grad_clip=None", "grad_clip=nn.ClipGradByGlobalNorm(0.1)"),
        ("        opt.step()", "        if step: opt.step()"),
        ("loss.backward()", "logits.register_hook(lambda g: g * 0.5); loss.backward()"),
    ):
        found = compared(before, after)
        assert found.first is not None
        assert found.first.state in ("only_a", "only_b")
        assert "backward call" not in told(found)


def test_data_that_the_program_made_is_named_by_its_line() -> None:
    found = told(compared("order = [0, 1, 2]", "order = [2, 1, 0]"))
    assert "It reads the tensor created at `x = paddle.to_tensor(data[" in found
    assert "was `order = [0, 1, 2]`, now `order = [2, 1, 0]`" in found


def test_a_forward_without_gradients_is_not_taken_for_the_one_with_them() -> None:
    call = "        logits = net(x)\n"
    found = compared(call, f"        with paddle.no_grad():\n            net(x)\n{call}")
    assert found.first is not None
    assert (found.first.name, found.first.state) == ("linear", "only_b")
    states = {row.state for row in found.gradient_rows}
    assert states
    assert states <= {"equal", "different"}


def test_more_steps_or_a_limit_do_not_make_another_model() -> None:
    one = ran(_PROGRAM, "<before>")
    for other in (
        ran(_PROGRAM.replace("range(3)", "range(30)").replace("[step]", "[step % 3]"), "<more>"),
        ran(_PROGRAM, "<limited>", limit=5),
    ):
        assert "different models" not in told(paddle_lab.compare(one, other))
        assert "different models" not in told(paddle_lab.compare(other, one))


def test_no_line_of_another_program_is_called_an_edit() -> None:
    other = """
import numpy as np
import paddle

x = paddle.ones([4, 4], "float32")
net = paddle.nn.Linear(4, 4)
opt = paddle.optimizer.Adam(parameters=net.parameters())
def main():
    for step in range(40):
        y = paddle.cumsum(paddle.abs(x))
        loss = paddle.sort(y).sum() + net(x).square().mean()
        if step == 39:
            break
    for step in range(3):
        loss.backward(retain_graph=True)
        opt.step()
        opt.clear_grad()
"""
    found = paddle_lab.compare(ran(_PROGRAM, "<before>"), ran(other, "<other>"))
    first, *_, second = found.record.origin.notices
    assert "no op of trace a matches it" in first
    assert "different models" in second


def test_an_op_without_inputs_is_not_said_to_have_equal_ones() -> None:
    program = "import paddle\ndef main():\n    paddle.seed({})\n    paddle.tanh(paddle.randn([3]))"
    found = paddle_lab.compare(*(ran(program.format(seed), f"<{seed}>") for seed in (1, 2)))
    assert found.first is not None
    assert found.first.name == "gaussian"
    assert "inputs" not in told(found)


REFACTORED = (
    ("self.fc2", "self.head"),
    ("        logits = net(x)\n        loss = logits.square().mean()\n",
     "        loss = (lambda made: made.square().mean())(net(x))\n"),
    ("    for step in range(3):\n", "    step = -1\n    while step < 2:\n        step += 1\n"),
    ("class Net(nn.Layer):\n", '# of two layers\nclass Net(nn.Layer):\n    """A net."""\n'),
    ("net = Net()", "net = nn.Sequential(Net())"),
)  # fmt: skip


def test_a_refactoring_makes_no_difference() -> None:
    trace = ran(_PROGRAM, "<before>")
    for number, (before, after) in enumerate(REFACTORED):
        edited = ran(_PROGRAM.replace(before, after), f"<after {number}>")
        assert told(paddle_lab.compare(trace, edited)).startswith("Nothing differs: all"), after


_NETWORK = """
import paddle
from paddle import nn
import paddle.nn.functional as F

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 4, 3, bias_attr=False)
        self.norm = nn.BatchNorm2D(4)
        self.head = nn.Linear(4, 2)
    def forward(self, x):
        return self.head(F.relu(self.norm(self.conv(x))).mean([2, 3]))

paddle.seed(0)
x = paddle.randn([2, 1, 5, 5])
net = Net()
opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
def train():
    for step in range(3):
        loss = net(x).square().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
def main():
    train()
    net.eval()
    net(x)
"""


def edited_network(before: str, after: str) -> Comparison:
    assert _NETWORK.count(before) == 1
    edited = _NETWORK.replace(before, after)
    return paddle_lab.compare(ran(_NETWORK, "<before>"), ran(edited, "<after>"))


def test_memory_that_batch_norm_leaves_unwritten_is_no_difference() -> None:
    # In eval mode it returns the statistics of the batch, but does not compute them.
    one, other = ran(_NETWORK, "<before>"), ran(_NETWORK, "<after>")
    noise = [paddle.full([4], number) for number in range(64)]
    del noise
    assert told(paddle_lab.compare(one, other)).startswith("Nothing differs: all")
    side = paddle_lab.compare(one, other)._compared.a
    (norm,) = [op for op in one.ops if op.name == "batch_norm"][3:]
    assert "is_test=True" in norm.attributes
    is_known = side.tensor_digests[1][side.tensors_of(norm.key, "output")]
    assert is_known.tolist() == [True, True, True, False, False, False]


def test_inputs_of_another_op_are_not_compared_by_position() -> None:
    found = edited_network("nn.BatchNorm2D(4)", "nn.GroupNorm(2, 4)")
    assert found.first is not None
    assert found.first.reason == "Another op ran: batch_norm, now group_norm"
    assert "already different" not in told(found)


def test_a_call_in_a_thread_that_is_waited_for_makes_no_difference() -> None:
    thread = "import threading; one = threading.Thread(target=train); one.start(); one.join()"
    found = edited_network("def main():\n    train()\n", f"def main():\n    {thread}\n")
    assert told(found).startswith("Nothing differs: all")


def test_another_optimizer_updates_the_same_parameters() -> None:
    found = edited_network("Adam(", "AdamW(")
    assert {row.state for row in found.rows} == {"equal", "different"}
    assert found.first is not None
    assert (found.first.name, found.first.reason) == (
        "adamw_", "Another op ran: adam_, now adamw_"
    )  # fmt: skip


def test_an_update_is_matched_with_that_of_the_same_parameter() -> None:
    found = edited_network(", bias_attr=False", "")
    updates = [row for row in found.rows if row.name == "adam_"]
    paths = {(row.a and row.a.inputs[0].path, row.b and row.b.inputs[0].path) for row in updates}
    same = ("conv.weight", "norm.weight", "norm.bias", "head.weight", "head.bias")
    assert paths == {(None, "conv.bias"), *zip(same, same, strict=True)}


def test_a_trace_that_ends_early_is_said_to_end() -> None:
    whole = ran(_NETWORK, "<whole>")
    program = _NETWORK.replace("opt.clear_grad()", "opt.clear_grad(); raise ValueError(step)")
    names: dict[str, Any] = {}
    exec(compile(program, "<half>", "exec"), names)
    with pytest.raises(ValueError, match="0"), paddle_lab.trace(digest=True) as half:
        names["main"]()
    found = paddle_lab.compare(whole, half).record.origin
    first = found.notices[0]
    assert first.startswith("No op differs until trace b ends. Trace a goes on with `conv2d` at ")
    assert "It ran in the layer `conv` and in iteration 2 of the loop at <whole>:20." in first
    assert found.exception == "ValueError: 0"  # so each view tells it
    last = paddle_lab.compare(half, whole).record.origin.notices[-1]
    assert last.startswith("`ValueError` stopped trace a at ")


def test_ops_that_a_limit_dropped_are_no_difference() -> None:
    whole = ran(_NETWORK, "<before>")
    for keep in ("newest", "first", "steps"):
        part = ran(_NETWORK, "<before>", limit=30, keep=keep)
        n = len(part.ops)
        assert n < len(whole.ops)
        for found in (paddle_lab.compare(whole, part), paddle_lab.compare(part, whole)):
            assert found.first is None, keep
            assert told(found).startswith(f"Nothing differs in the {n} ops that both traces keep.")


def test_traces_without_ops_are_not_called_equal() -> None:
    empty, other = (ran("def main():\n    pass\n", f"<{number}>") for number in (1, 2))
    assert told(paddle_lab.compare(empty, other)) == (
        "Neither trace has an op, so there is nothing to compare."
    )
    whole = ran(_NETWORK, "<before>")
    assert told(paddle_lab.compare(empty, whole)) == (
        "Trace a has no ops, so there is nothing to compare."
    )


def test_the_layer_is_named_with_the_model_if_it_has_only_a_number() -> None:
    program = (
        "import paddle\npaddle.seed({})\nx = paddle.ones([1, 3])\n"
        "net = paddle.nn.Sequential(paddle.nn.Linear(3, 3))\ndef main():\n    net(x)\n"
    )
    found = paddle_lab.compare(*(ran(program.format(seed), f"<{seed}>") for seed in (1, 2)))
    assert "It ran in the layer `net.0`." in found.findings[0].message


def test_an_op_that_raised_is_not_said_to_have_other_shapes() -> None:
    program = "import paddle\ndef main():\n    paddle.ones([2, 3]).reshape([{}])\n"
    whole = ran(program.format(6), "<whole>")
    names: dict[str, Any] = {}
    exec(compile(program.format(7), "<raised>", "exec"), names)
    with pytest.raises(ValueError, match="ReshapeOp"), paddle_lab.trace(digest=True) as raised:
        names["main"]()
    (first,) = [row for row in paddle_lab.compare(whole, raised).rows if row.name == "reshape"]
    assert first.reason == (
        "Attributes were shape=[6], now shape=[7]. It raised an exception in only one of the traces"
    )


def test_ops_inside_a_compiled_program_are_said_to_be_missing() -> None:
    found = edited_network("net = Net()", "net = paddle.jit.to_static(Net(), full_graph=True)")
    assert "Trace b runs a compiled program of" in told(found)
    assert "`loss = net(x).square().mean()`" in told(found)
