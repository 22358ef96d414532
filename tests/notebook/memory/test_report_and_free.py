"""``%paddle_mem report`` and ``%paddle_mem free``: the session's memory, and what can be freed."""

from __future__ import annotations

import gc
import traceback
from typing import TYPE_CHECKING

from IPython.utils.capture import capture_output

from paddle_lab.holders.search import HolderSearch
from paddle_lab.magics.free_button import show_free_button
from paddle_lab.magics.memory.notebook_memory import NotebookMemory
from tests.notebook.memory.measured_shell import X_BYTES, allocated
from tests.notebook.shell import run

if TYPE_CHECKING:
    import pytest
    from IPython.core.interactiveshell import InteractiveShell


def test_the_ledger_has_an_entry_a_cell_that_changed_memory(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    first = shell.execution_count
    run(shell, "a = x * 2\nb = x * 3\ndel b")
    run(shell, "1 + 1")
    run(shell, "%%paddle_mem -q\nkept = x * 4")
    capsys.readouterr()
    run(shell, "%paddle_mem report").raise_error()
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split("  ")[0]: line for line in lines if line.startswith("[")}
    assert list(rows)[-2:] == [f"[{first}]", f"[{first + 2}]"]
    assert rows[f"[{first + 2}]"].endswith("512.0 KiB  kept 512.0 KiB")
    living = "\n".join(lines).partition("Alive now")[2] + "\n"
    for name in ("net", "x", "a", "kept"):
        assert f"  {name}\n" in living


def test_the_cell_that_loads_the_extension_is_not_entered(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%reload_ext paddle_lab\nhere = x * 2").raise_error()
    first = shell.execution_count
    run(shell, "more = x * 2")
    capsys.readouterr()
    run(shell, "%paddle_mem report")
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[")]
    assert [row.split()[0] for row in rows] == [f"[{first}]"]


def test_a_report_that_is_interrupted_keeps_nothing_of_what_it_found(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_search: HolderSearch, _roots: object, **_options: object) -> None:
        found = [shell.user_ns["x"]]
        raise KeyboardInterrupt(len(found))

    with monkeypatch.context() as patched:
        patched.setattr(HolderSearch, "walk", interrupted)
        result = run(shell, "%paddle_mem report")
    error = result.error_in_exec
    assert isinstance(error, KeyboardInterrupt)
    assert error.__context__ is None
    functions = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
    assert "interrupted" not in functions


def test_a_report_says_what_a_view_keeps(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "first = (x * 2)[:2]")
    run(shell, "%paddle_mem report")
    assert "a view of 2.00 KiB keeps 512.0 KiB" in capsys.readouterr().out


def test_what_the_notebook_alone_keeps_is_let_go(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    before = allocated()
    run(shell, "def f(x):\n    big = x * 2\n    raise ValueError\n")
    cell = shell.execution_count
    run(shell, "x * 3")
    run(shell, "y = x * 4\ny")
    run(shell, "f(x)")
    assert allocated() == before + 3 * X_BYTES
    capsys.readouterr()

    run(shell, "%paddle_mem free").raise_error()
    said = capsys.readouterr().out
    assert allocated() == before + X_BYTES
    assert said.startswith("Freed 1.00 MiB by releasing ")
    assert f"Out[{cell}]" in said
    assert f"Out[{cell + 1}]" not in said  # y holds it too
    assert "the last traceback" in said
    assert cell + 1 in shell.user_ns["Out"]
    assert cell not in shell.user_ns["Out"]

    run(shell, "%paddle_mem free").raise_error()
    assert "Nothing to free" in capsys.readouterr().out


def test_the_last_value_is_let_go_under_all_its_names(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    before = allocated()
    run(shell, "[x * 3]")
    assert allocated() == before + X_BYTES
    shell.run_line_magic("paddle_mem", "free")  # no cell of its own, as from the button
    assert allocated() == before
    assert shell.user_ns["_"] == ""


def test_what_cycles_held_is_told_apart_from_what_was_let_go(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = shell.execution_count
    run(shell, "x * 3")
    gc.disable()
    try:
        run(
            shell,
            "class Cycle: pass\ncycle = Cycle()\ncycle.me, cycle.kept = cycle, x * 2\ndel cycle",
        )
        capsys.readouterr()
        run(shell, "%paddle_mem free")
    finally:
        gc.enable()
    said = capsys.readouterr().out
    by_letting_go = f"512.0 KiB by releasing Out[{cell}]"
    assert f"Freed 1.00 MiB: {by_letting_go}, 512.0 KiB from reference cycles." in said


def test_an_output_that_something_else_holds_frees_nothing_and_says_so(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = shell.execution_count
    # What C++ holds has no name that a search could find.
    run(shell, "out = x.clone()\nout.stop_gradient = False")
    run(shell, "kept = x * 3\nout.register_hook((lambda held: lambda grad: held)(kept))\nkept")
    run(shell, "del kept")
    capsys.readouterr()
    run(shell, "%paddle_mem free")
    sentence = f"Released Out[{cell + 1}], but no memory was freed: something else still holds it."
    assert sentence in capsys.readouterr().out


def test_a_report_marks_as_the_notebooks_what_ipython_keeps_in_hidden_places(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "_ = 3")  # from here on IPython keeps the latest values elsewhere
    run(shell, "x * 3")
    run(shell, "%paddle_mem report")
    assert "only the notebook holds it: %paddle_mem free" in capsys.readouterr().out
    run(shell, "del _")
    run(shell, "[x * 5]")
    run(shell, "%reset -f out")
    before = allocated()
    run(shell, "%paddle_mem free")
    assert allocated() == before - 2 * X_BYTES
    assert shell.user_ns["_"] == ""


def test_a_button_frees_nothing_below_what_findings_speak_of(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NotebookMemory, "has_page", True)
    memory = NotebookMemory(shell)
    for size, buttons in ((0, 0), (4, 0), (4095, 0), (4096, 1)):
        with capture_output() as captured:
            show_free_button(memory, size)
        assert len(captured.outputs) == buttons, size
