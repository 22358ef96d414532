"""The options of ``%%paddle_trace`` and ``%%paddle_mem``, and the errors for wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from IPython.core.error import UsageError

import paddle_lab
from paddle_lab import words as spoken
from paddle_lab.analysis.tables.text_table import text_width
from paddle_lab.magics.options import split_line
from tests.notebook.shell import run

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


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
    ("line", "escapes", "words"),
    [
        (
            '--title "a b" --save C:\\runs\\a.pltrace',
            False,
            ["--title", "a b", "--save", "C:\\runs\\a.pltrace"],
        ),
        (r"--save 'C:\my runs\a.pltrace'", False, ["--save", r"C:\my runs\a.pltrace"]),
        (r"--title a\ b -q", True, ["--title", "a b", "-q"]),
        ("--title '#3'", True, ["--title", "#3"]),
    ],
)
def test_quotes_and_backslashes_are_read_as_the_system_has_them(
    line: str, words: list[str], *, escapes: bool
) -> None:
    assert split_line(line, backslash_escapes=escapes) == words


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--vew ladder", "has no option --vew; did you mean --view?"),
        ("--view sideways", "--view cannot be 'sideways'; it is one of "),
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
    assert "-o loss: the cell assigned loss itself" in capsys.readouterr().err
    assert shell.user_ns["_trace"].ops


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("magic", ["%%paddle_trace", "%%paddle_mem"])
def test_the_help_is_one_screen_that_names_every_option(
    shell: InteractiveShell,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    magic: str,
    language: str,
) -> None:
    monkeypatch.setattr(spoken, "_chosen", language)
    run(shell, f"{magic}?")
    printed = capsys.readouterr().out
    assert f"\n  {magic} --" in printed, "an example"
    for option in ("--output", "--view", "--height", "--title", "--save", "--quiet", "--grads",
                   "--check", "--values", "--profile", "--limit", "--keep"):  # fmt: skip
        assert option in printed
    assert "paddle_lab.checks()" in printed
    assert len(printed.splitlines()) <= 40
    assert max(map(text_width, printed.splitlines())) <= 100


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
    trace = paddle_lab.load(trace.save(tmp_path / "limited.pltrace"))
    assert trace.record.origin.kept == "newest"
    assert sentence in trace.summary()
    assert trace.record.origin.notices[0].startswith(sentence)  # what the banner and a page show
