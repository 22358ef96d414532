"""``%%paddle_trace`` in a real IPython shell: a cell behaves as without it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from IPython.core.error import UsageError

import paddle_lab
from tests.notebook.shell import fresh_shell, run

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_SETUP = "import paddle\nnet = paddle.nn.Linear(2, 2)\nx = paddle.ones([3, 2])"


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    with fresh_shell(setup=_SETUP) as shell:
        yield shell


def test_the_value_of_a_cell_is_its_own(shell: InteractiveShell) -> None:
    plain = run(shell, "y = net(x)\ny.shape")
    traced = run(shell, "%%paddle_trace -q\ny = net(x)\ny.shape")
    assert traced.result == plain.result
    assert shell.user_ns["Out"][shell.execution_count - 1] == plain.result
    assert [op.name for op in shell.user_ns["_trace"].ops] == ["linear"]


def test_a_semicolon_silences_the_value(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%%paddle_trace -q\n6 * 7;")
    assert "42" not in capsys.readouterr().out
    run(shell, "%%paddle_trace -q\n6 * 7")
    assert "42" in capsys.readouterr().out


def test_a_variable_takes_the_trace_and_lines_are_the_cells_own(shell: InteractiveShell) -> None:
    count = shell.execution_count
    run(
        shell,
        "%%paddle_trace -o step -q --title 'One step'\n\nloss = net(x).mean()\nloss.backward()",
    )
    step = shell.user_ns["step"]
    assert step is shell.user_ns["_trace"]
    assert step.record.origin.title == "One step"
    linear = step.ops[0]
    assert (linear.cell, linear.line, linear.layer) == (count, 3, "net")
    assert linear.stack[-1].text.strip() == "loss = net(x).mean()"
    (source,) = (text for text in step.record.strings if text.startswith("%%paddle_trace"))
    assert source.splitlines()[2] == "loss = net(x).mean()"


def test_below_another_magic_the_trace_is_named_after_the_cell(shell: InteractiveShell) -> None:
    count = shell.execution_count
    run(shell, "%%time\n%%paddle_trace -q\nnet(x)")
    trace = shell.user_ns["_trace"]
    assert trace.record.origin.title == f"Cell {count}"
    assert len(trace.ops) == 1


def test_an_exception_is_the_users_own_and_the_trace_up_to_there_is_kept(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(shell, "%%paddle_trace -q\ny = net(x)\nnet(y)\n1 / 0\nnet(x)")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    printed = capsys.readouterr().out
    assert "paddle_lab" not in printed.replace("%%paddle_trace", "")
    assert "line 4" in printed
    trace = shell.user_ns["_trace"]
    assert len(trace.ops) == 2
    assert trace.record.origin.exception == "ZeroDivisionError: division by zero"


def test_an_interrupt_ends_the_cell_and_the_trace(shell: InteractiveShell) -> None:
    result = run(shell, "%%paddle_trace -q\nnet(x)\nraise KeyboardInterrupt")
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    trace = shell.user_ns["_trace"]
    assert len(trace.ops) == 1
    assert trace.record.origin.exception == "KeyboardInterrupt"


def test_a_cell_that_does_not_compile_begins_no_trace(shell: InteractiveShell) -> None:
    run(shell, "%%paddle_trace -o before -q\nnet(x)")
    result = run(shell, "%%paddle_trace -o after -q\nnet(x")
    assert isinstance(result.error_before_exec, SyntaxError)
    assert "after" not in shell.user_ns


def test_top_level_await_works(shell: InteractiveShell) -> None:
    run(
        shell,
        "%%paddle_trace -q\nimport asyncio\nawait asyncio.sleep(0)\ny = net(x)\n"
        "await asyncio.sleep(0)\nnet(y).shape",
    ).raise_error()
    ops = shell.user_ns["_trace"].ops
    assert [(op.name, op.line) for op in ops] == [("linear", 4), ("linear", 6)]


def test_another_magic_around_it_works(shell: InteractiveShell) -> None:
    run(shell, "%%time\n%%paddle_trace -q -o timed\nnet(x)").raise_error()
    assert len(shell.user_ns["timed"].ops) == 1


def test_another_magic_below_it_works(shell: InteractiveShell) -> None:
    run(shell, "%%paddle_trace -q -o timed\n%%time\nnet(x)").raise_error()
    assert len(shell.user_ns["timed"].ops) == 1


def test_the_error_of_an_op_shows_no_frame_of_ours(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(shell, "%%paddle_trace -q\nnet(paddle.ones([2, 3]))")
    assert isinstance(result.error_in_exec, ValueError)
    printed = capsys.readouterr().out
    assert "layers.py" in printed  # Paddle's own frames stay
    assert "paddle_lab" not in printed
    assert shell.user_ns["_trace"].ops[-1].name == "linear"


@pytest.mark.parametrize("outer", ["paddle_trace", "paddle_mem"])
def test_of_two_magics_of_ours_the_lower_one_is_at_work_and_the_other_says_so(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], outer: str
) -> None:
    run(shell, f"%%{outer} -o outer\n%%paddle_trace -q -o inner\nnet(x)").raise_error()
    shown = capsys.readouterr()
    assert f"%%{outer} was left out: below it stands %%paddle_trace" in shown.err
    assert "0 ops" not in shown.out
    assert "outer" not in shell.user_ns
    (op,) = shell.user_ns["inner"].ops
    assert (op.name, op.line) == ("linear", 3)


def test_reset_does_not_take_the_magic_away(shell: InteractiveShell) -> None:
    run(shell, "%reset -f")
    run(shell, _SETUP + "\n")
    run(shell, "%%paddle_trace -q\nnet(x)").raise_error()
    assert len(shell.user_ns["_trace"].ops) == 1


def test_unloading_in_a_traced_cell_ends_its_trace(shell: InteractiveShell) -> None:
    run(shell, "%%paddle_trace -q\nnet(x)\n%reload_ext paddle_lab\nnet(x)").raise_error()
    assert len(shell.user_ns["_trace"].ops) == 1


def test_a_call_of_the_magic_works(shell: InteractiveShell) -> None:
    shell.run_cell_magic("paddle_trace", "-q -o called", "net(x)\n")
    assert len(shell.user_ns["called"].ops) == 1


def test_a_cell_that_runs_cells_is_traced_to_its_end(shell: InteractiveShell) -> None:
    run(
        shell,
        "%%paddle_trace -q\nnet(x)\nget_ipython().run_cell('inner = net(x)')\nnet(x)",
    ).raise_error()
    assert len(shell.user_ns["_trace"].ops) == 3


def test_a_cell_without_ops_has_an_empty_trace(shell: InteractiveShell) -> None:
    assert run(shell, "%%paddle_trace -q\n1 + 1").result == 2
    assert len(shell.user_ns["_trace"].ops) == 0
    run(shell, "%%paddle_trace -q").raise_error()
    assert len(shell.user_ns["_trace"].ops) == 0


def test_the_trace_is_shown_and_saved(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "step.pltrace"
    run(shell, f"%%paddle_trace --save '{path}'\nnet(x)").raise_error()
    assert "1 op" in capsys.readouterr().out
    assert len(paddle_lab.load(path).ops) == 1


def test_a_trace_that_cannot_be_saved_is_still_there(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run(
        shell, f"%%paddle_trace -q --save '{tmp_path / 'no' / 'step.pltrace'}'\nnet(x)"
    ).raise_error()
    assert "could not be saved" in capsys.readouterr().err
    assert len(shell.user_ns["_trace"].ops) == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--vew ladder", "has no option --vew; did you mean --view?"),
        ("--view sideways", "invalid choice: 'sideways'"),
        ("--height 3", "--height is 240 to 4000 pixels, not 3"),
        ("--height tall", "invalid int value: 'tall'"),
        ("-o 3x", "-o needs a variable name"),
        ("-o class", "-o needs a variable name"),
        ("-o 'x", "No closing quotation"),
        ("--check broadcast", "no check 'broadcast'; did you mean 'broadcast-surprise'?"),
        ("--check broadcast-surprise,alll", "no check 'alll'; did you mean 'all'?"),
        ("--gards", "has no option --gards; did you mean --grads?"),
        ("--limt 5", "has no option --limt; did you mean --limit?"),
        ("--limit 0", "--limit is 1 op or more, or none for all; not 0"),
        ("--limit 1e5", "--limit is a whole number of ops, such as 100000, or none; not 1e5"),
        ("--keep oldest", "--keep cannot be 'oldest'; it is one of newest, first, steps"),
        ("--keep step", "--keep cannot be 'step'; did you mean steps?"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_the_cell_does_not_run(
    shell: InteractiveShell, options: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(shell, f"%%paddle_trace {options}\nran = True")
    assert isinstance(result.error_in_exec, UsageError)
    printed = capsys.readouterr()
    assert sentence in printed.err + printed.out
    assert "Traceback" not in printed.err + printed.out
    assert "ran" not in shell.user_ns


@pytest.mark.parametrize("magic", ["paddle_trace", "paddle_mem"])
def test_a_trace_replaces_no_variable_but_a_trace(
    shell: InteractiveShell, magic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    net = shell.user_ns["net"]
    result = run(shell, f"%%{magic} -q -o net\nran = net(x)")
    assert isinstance(result.error_in_exec, UsageError)
    printed = capsys.readouterr()
    assert "-o net: the trace would replace your variable net" in printed.err + printed.out
    assert shell.user_ns["net"] is net
    assert "ran" not in shell.user_ns
    for _ in range(2):
        run(shell, f"%%{magic} -q -o again\nnet(x)").raise_error()
        assert shell.user_ns["again"] is shell.user_ns["_trace"]


def test_a_variable_that_the_cell_itself_sets_stays(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%%paddle_trace -q -o loss\nloss = float(net(x).mean())").raise_error()
    assert isinstance(shell.user_ns["loss"], float)
    assert "-o loss: the cell itself set loss" in capsys.readouterr().err
    assert shell.user_ns["_trace"].ops


def test_the_help_names_every_option(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%%paddle_trace?")
    printed = capsys.readouterr().out
    assert "Run a cell and show what it computed" in printed
    for option in ("--output", "--view", "--height", "--title", "--save", "--quiet", "--grads",
                   "--limit", "--keep"):  # fmt: skip
        assert option in printed
    help_text = "".join(printed.split())  # wrapped at hyphens, too
    for check in paddle_lab.checks():
        assert f"{check.kind} ({check.cost})".replace(" ", "") in help_text


@pytest.mark.parametrize("magic", ["%%paddle_trace", "%%paddle_mem"])
def test_a_cell_is_recorded_for_the_checks_it_names(shell: InteractiveShell, magic: str) -> None:
    bug = "y = net(x)[:, :1]\ny - paddle.ones([3])"
    run(shell, f"{magic} -q --check broadcast-surprise\n{bug}").raise_error()
    assert [finding.kind for finding in shell.user_ns["_trace"].findings] == ["broadcast-surprise"]
    run(shell, f"{magic} -q --check none\n{bug}").raise_error()
    assert shell.user_ns["_trace"].findings == []


@pytest.mark.parametrize("magic", ["%%paddle_trace", "%%paddle_mem"])
def test_a_limit_keeps_a_part_of_the_cells_ops(shell: InteractiveShell, magic: str) -> None:
    cell = "for _ in range(6):\n    y = net(x).tanh()\ny.shape"
    kept = {}
    for options in (
        "--limit none",
        "--limit 1,000 --keep steps",
        "--limit 3",
        "--limit 4 --keep first",
    ):
        result = run(shell, f"{magic} -q {options}\n{cell}")
        assert result.result == [3, 2]
        trace = shell.user_ns["_trace"]
        kept[options] = "".join(op.name[0] for op in trace.ops), trace.record.origin.kept
    assert kept == {
        "--limit none": ("lt" * 6, ""),
        "--limit 1,000 --keep steps": ("lt" * 6, ""),
        "--limit 3": ("tlt", "newest"),
        "--limit 4 --keep first": ("ltlt", "first"),
    }


@pytest.mark.parametrize("magic", ["%%paddle_trace", "%%paddle_mem"])
def test_a_limit_that_was_reached_is_told_wherever_the_trace_is_shown(
    shell: InteractiveShell, magic: str, tmp_path: Path
) -> None:
    run(shell, f"{magic} -q --limit 3\nfor _ in range(4):\n    y = net(x)").raise_error()
    trace = shell.user_ns["_trace"]
    sentence = "4 ops ran, and the trace keeps the newest 3."
    assert sentence in trace.summary()
    assert sentence in trace.fallback_html()
    trace = paddle_lab.load(trace.save(tmp_path / "limited.pdtrace"))
    assert trace.record.origin.kept == "newest"
    assert sentence in trace.summary()
    assert trace.record.origin.notices[0].startswith(sentence)  # what the banner and a page show


def test_loading_twice_changes_nothing_and_unloading_takes_all_away(
    shell: InteractiveShell,
) -> None:
    transformers = len(shell.input_transformers_cleanup)
    shell.run_line_magic("reload_ext", "paddle_lab")
    assert len(shell.input_transformers_cleanup) == transformers
    run(shell, "%%paddle_trace -q\nnet(x)").raise_error()
    assert len(shell.user_ns["_trace"].ops) == 1
    shell.run_line_magic("unload_ext", "paddle_lab")
    assert len(shell.input_transformers_cleanup) == transformers - 1
    assert isinstance(run(shell, "%%paddle_trace -q\n1").error_in_exec, UsageError)
    shell.run_line_magic("load_ext", "paddle_lab")
