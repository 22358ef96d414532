"""The holders of the memory that a cell with ``%%paddle_mem`` left allocated."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

import paddle_lab
from paddle_lab.trace.schema import HOLDER_KINDS
from tests.notebook.memory.measured_shell import X_BYTES, allocated, held
from tests.notebook.shell import run

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from paddle_lab.magics.memory.notebook_memory import NotebookMemory


def test_holders_have_the_names_that_the_notebook_gives_them(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("experiment")
    module.__file__ = "/somewhere/experiment.py"
    vars(module)["seen"] = []
    monkeypatch.setitem(sys.modules, "experiment", module)
    cell = shell.execution_count
    run(
        shell,
        "%%paddle_mem -q -o t\n"
        "import experiment\n"
        "cache = {'kept': [x * 2]}\n"
        "experiment.seen.append(x * 3)\n"
        "big = x * 4\n"
        "first = big[:1]\n"
        "del big\n"
        "hidden = net[1](net[0](x))\n"
        "loss = (hidden * hidden).mean()\n"
        "del hidden\n"
        "x * 5",
    ).raise_error()
    assert {
        ("container", "cache['kept'][0]"): X_BYTES,
        ("container", "experiment.seen[0]"): X_BYTES,
        ("view", "first"): X_BYTES,
        ("output", f"Out[{cell}]"): X_BYTES,
        ("backward_graph", "loss"): X_BYTES,
        ("variable", "loss"): 4,
    }.items() <= held(shell.user_ns["t"]).items()


def test_what_the_collector_does_not_know_of_has_a_name_as_well(shell: InteractiveShell) -> None:
    run(
        shell,
        "%%paddle_mem -q\n"
        "import numpy as np\n"
        "weight = net[0].weight\n"
        "weight.main_grad = x * 2\n"
        "shown = (x * 3).numpy()\n"
        "table = np.empty(3, object)\n"
        "table[2] = x * 4\n",
    ).raise_error()
    assert {
        ("container", "net.0.weight.main_grad"): X_BYTES,
        ("container", "shown (shares its memory)"): X_BYTES,
        ("container", "table[2]"): X_BYTES,
    }.items() <= held(shell.user_ns["_trace"]).items()


def test_a_variable_of_a_traced_call_in_a_thread_has_its_name(shell: InteractiveShell) -> None:
    run(
        shell,
        "%%paddle_mem -q -o t\n"
        "import threading\n"
        "begun, end = threading.Event(), threading.Event()\n"
        "def work():\n"
        "    mine = x * 2\n"
        "    begun.set()\n"
        "    end.wait()\n"
        "threading.Thread(target=work, name='loader').start()\n"
        "begun.wait()\n",
    ).raise_error()
    shell.user_ns["end"].set()
    found = held(shell.user_ns["t"])
    assert found["container", "mine in work(), thread loader"] == X_BYTES


def test_a_check_that_runs_the_cell_again_moves_no_gradient_to_another_name(
    shell: InteractiveShell,
) -> None:
    run(
        shell,
        "%%paddle_mem -q --check nondeterminism,unwritten-output -o t\n"
        "for _ in range(2):\n"
        "    loss = net(x).mean()\n"
        "    loss.backward()\n"
        "    net.clear_gradients()\n",
    ).raise_error()
    found = held(shell.user_ns["t"])
    assert "unknown" not in {kind for kind, _ in found}
    assert {
        ("container", "net.0.weight.grad"): 256 * 256 * 4,
        ("container", "net.0.bias.grad"): 256 * 4,
        ("container", "net.2.weight.grad"): 256 * 256 * 4,
    }.items() <= found.items()


def test_what_a_pylayer_keeps_belongs_to_its_graph(shell: InteractiveShell) -> None:
    run(
        shell,
        "from paddle.autograd import PyLayer\n"
        "class Keeping(PyLayer):\n"
        "    @staticmethod\n"
        "    def forward(ctx, a):\n"
        "        ctx.save_for_backward(a * 2)\n"
        "        ctx.other = a * 3\n"
        "        return a.sum()\n"
        "    @staticmethod\n"
        "    def backward(ctx, grad):\n"
        "        return grad * ctx.other\n"
        "y = x.clone()\n"
        "y.stop_gradient = False\n",
    )
    run(shell, "%%paddle_mem -q\nout = Keeping.apply(y)").raise_error()
    assert held(shell.user_ns["_trace"])["backward_graph", "out"] == 2 * X_BYTES


def test_a_long_list_of_losses_holds_all_that_their_graphs_saved(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "net[0].weight.stop_gradient = False")
    run(shell, "%%paddle_mem\nlosses = [net(x[:64]).mean() for _ in range(100)]").raise_error()
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "Memory on" in line]
    assert "held by backward graphs of losses" in line
    assert "no name" not in line


def test_a_name_of_ipythons_that_the_user_took_is_a_variable(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%%paddle_mem -q\n_, first = x * 2, 1").raise_error()
    assert held(shell.user_ns["_trace"])["variable", "_"] == X_BYTES
    gc.collect()  # what other tests left in cycles
    run(shell, "%paddle_mem free")
    assert "Nothing to free" in capsys.readouterr().out
    assert shell.user_ns["_"].shape == [512, 256]


def test_a_variable_of_a_failed_call_is_held_by_the_last_traceback(shell: InteractiveShell) -> None:
    run(shell, "def f(x):\n    big = x * 2\n    raise ValueError\n")
    result = run(shell, "%%paddle_mem -q\nf(x)")
    assert isinstance(result.error_in_exec, ValueError)
    assert held(shell.user_ns["_trace"])["traceback", "big in f(), last traceback"] == X_BYTES


def test_the_trace_is_saved_with_its_holders(shell: InteractiveShell, tmp_path: Path) -> None:
    path = tmp_path / "step.pltrace"
    run(shell, f"%%paddle_mem -q --save '{path}'\nkept = x * 4").raise_error()
    record = paddle_lab.load(path).record
    kinds = {HOLDER_KINDS[kind] for kind in record.holders["kind"]}
    assert "variable" in kinds
    assert held(paddle_lab.load(path))["variable", "kept"] == X_BYTES


def test_memory_magics_keep_no_tensor_alive(shell: InteractiveShell) -> None:
    run(shell, "y = x * 2")
    before = allocated()
    run(shell, "%%paddle_mem -q\nz = x * 3\ny = z * z\ndel z")
    run(shell, "%paddle_mem report")
    run(shell, "%paddle_mem free")
    assert allocated() == before
    run(shell, "del y")
    assert allocated() == before - X_BYTES


@pytest.mark.parametrize("fault", [KeyboardInterrupt, ValueError])
def test_a_search_that_fails_costs_no_trace(
    shell: InteractiveShell,
    monkeypatch: pytest.MonkeyPatch,
    fault: type[BaseException],
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(_memory: NotebookMemory) -> None:
        raise fault

    monkeypatch.setattr(
        "paddle_lab.magics.memory.notebook_memory.NotebookMemory.living", interrupted
    )
    run(shell, "%%paddle_mem\nkept = x * 2").raise_error()
    trace = shell.user_ns["_trace"]
    assert len(trace.allocations) > 0
    said = capsys.readouterr().out
    assert "Still alive from this cell: 512.0 KiB; who holds it was not found." in said
    assert trace.record.origin.notices[-1].endswith(f"the search ended in {fault.__name__}.")
