"""``%%paddle_trace --check nondeterminism`` runs the cell twice, without visible effects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.notebook.shell import fresh_shell, run

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_SETUP = """import random
import time
import numpy as np
import paddle
paddle.seed(3)
random.seed(3)
np.random.seed(3)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 4), paddle.nn.BatchNorm1D(4), paddle.nn.Dropout(0.5))
optimizer = paddle.optimizer.Adam(0.1, parameters=net.parameters())
x = paddle.randn([8, 4])
losses = []
scale = 1.0
"""
_STEP = """global_before = scale
scale = scale + 1
for _ in range(2):
    loss = (net(x + paddle.rand([4])) ** 2).mean() * scale * random.random() * np.random.rand()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    losses.append(float(loss))
x.add_(paddle.ones([4]))
print('once', len(losses))
kept = net(x).sum()
kept.backward()
"""
_STATE = """state = [v.numpy().tobytes() for v in (*net.state_dict().values(), x, kept)]
state += [v.numpy().tobytes() for v in optimizer.state_dict().values() if hasattr(v, 'numpy')]
state += [p.grad.numpy().tobytes() for p in net.parameters() if p.grad is not None]
state += [losses, scale, global_before, x.inplace_version, random.random(), np.random.rand()]
state += [float(paddle.rand([1])), paddle.nn.Linear(1, 1).weight.name]
"""
_COMPILED = """@paddle.jit.to_static(full_graph=False)
def branch(x):
    return x * 2 if x.mean() > 0 else x - 1
"""


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    with fresh_shell(setup=_SETUP) as shell:
        yield shell


def found(shell: InteractiveShell) -> set[tuple[str, int]]:
    return {(finding.kind, finding.line) for finding in shell.user_ns["_trace"].findings}


def notices(shell: InteractiveShell) -> list[str]:
    origin = shell.user_ns["_trace"].record.origin
    return list(origin.notices)


def _after(magic: str, capsys: pytest.CaptureFixture[str]) -> tuple[list[object], str, list[str]]:
    with fresh_shell(setup=_SETUP) as shell:
        capsys.readouterr()
        run(shell, f"{magic}{_STEP}").raise_error()
        printed = capsys.readouterr().out
        told = notices(shell) if magic else []
        run(shell, _STATE).raise_error()
        state: list[object] = shell.user_ns["state"]
        state[-1] = str(state[-1]).rsplit("_", 2)[0]
        return state, printed, told


@pytest.mark.parametrize("checks", ["nondeterminism", "nondeterminism,unwritten-output", "all"])
def test_the_second_run_leaves_no_trace(checks: str, capsys: pytest.CaptureFixture[str]) -> None:
    plain = _after("", capsys)
    again = _after(f"%%paddle_trace -q --check {checks}\n", capsys)
    assert again[2] == []
    assert again[:2] == plain[:2]


def test_the_line_that_differs_is_named(shell: InteractiveShell) -> None:
    run(
        shell,
        "%%paddle_trace -q --check nondeterminism\n"
        "a = x * 2\n"
        "noise = np.random.default_rng().normal(size=[8, 4]).astype('float32')\n"
        "noisy = paddle.to_tensor(noise)\n"
        "y = net(a + noisy).sum()\n"
        "y.backward()",
    ).raise_error()
    assert found(shell) == {("nondeterminism", 4)}
    assert shell.user_ns["_comparison"].rows[0].state == "equal"
    assert "is the first op that differs" in repr(shell.user_ns["_comparison"])


def test_a_healthy_cell_has_no_finding(shell: InteractiveShell) -> None:
    run(shell, f"%%paddle_trace -q --check nondeterminism,unwritten-output\n{_STEP}").raise_error()
    assert found(shell) == set()
    assert notices(shell) == []


def test_memory_that_nobody_wrote_is_named(shell: InteractiveShell) -> None:
    run(
        shell,
        "%%paddle_trace -q --check unwritten-output\n"
        "whole = paddle.empty([4])\nwhole[:] = 1.0\n"
        "part = paddle.empty([4])\npart[:3] = 1.0\n"
        "whole.sum() + part.sum()",
    ).raise_error()
    assert found(shell) == {("unwritten-output", 4)}


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("y = net(next(batches))", "an iterator (list_iterator)"),
        ("y = net(draw())", "an iterator (generator)"),
        ("import asyncio\nawait asyncio.sleep(0)\ny = net(x)", "it awaits"),
        ("%time y = net(x)", "magics or shell commands"),
        ("net(x)\n1 / 0", "the cell ended in an error"),
        ("log.write('a')\ny = net(x)", "an open file"),
        ("whole.add_(x)\ny = view * 2", "shares its memory with another variable"),
        ("made.add_(x)", "a tensor of a backward graph"),
        ("kept.backward()", "the second run ended in"),
    ],
)
def test_what_cannot_run_twice_is_refused_in_a_sentence(
    shell: InteractiveShell, cell: str, reason: str
) -> None:
    run(
        shell,
        "batches = iter([x, x])\n"
        "def batch():\n    yield x\n    yield x\nwaiting = batch()\n"
        "def draw():\n    return next(waiting)\n"
        "import io\nlog = io.StringIO()\n"
        "whole = paddle.ones([8, 4])\nview = whole.view([4, 8])\n"
        "made = net(x)\nkept = (net(x) ** 2).sum()",
    ).raise_error()
    run(shell, f"%%paddle_trace -q --check nondeterminism\n{cell}")
    (notice,) = notices(shell)
    assert notice.startswith("Not checked for nondeterminism: ")
    assert reason in notice
    assert found(shell) == set()


def test_after_a_second_run_that_fails_all_is_as_the_first_left_it(shell: InteractiveShell) -> None:
    run(shell, "kept = (net(x) ** 2).sum()")
    run(
        shell,
        "%%paddle_trace -q --check nondeterminism\n"
        "kept.backward()\noptimizer.step()\noptimizer.clear_grad()\nlosses.append(1)",
    ).raise_error()
    assert shell.user_ns["losses"] == [1]
    run(shell, "net(x).sum().backward()\noptimizer.step()").raise_error()


def test_without_such_a_check_the_cell_runs_once(shell: InteractiveShell) -> None:
    run(shell, "class Count:\n    runs = 0\n")
    run(shell, "%%paddle_trace -q\nCount.runs += 1\nprint(Count.runs)\nnet(x)").raise_error()
    assert shell.user_ns["Count"].runs == 1
    assert notices(shell) == []


def test_a_function_that_sot_compiles_in_the_first_run_runs_again(shell: InteractiveShell) -> None:
    run(shell, _COMPILED).raise_error()
    cell = "%%paddle_trace --check nondeterminism\ny = branch(x)"
    run(shell, cell).raise_error()
    assert (notices(shell), found(shell)) == ([], set())
    run(shell, "z = branch(x)").raise_error()
