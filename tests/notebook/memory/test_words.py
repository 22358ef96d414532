"""The accepted arguments of the memory magics, and the errors for all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from IPython.core.error import UsageError

from tests.notebook.shell import run

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("%paddle_mem repot", "%paddle_mem has no option repot; did you mean report?"),
        ("%paddle_mem nothing", "it has on, off, report, free"),
        ("%paddle_mem on --higth 3", "did you mean --height?"),
        ("%paddle_mem --height 3", "--height is 160 to 2000 pixels, not 3"),
        ("%paddle_mem ON", "%paddle_mem has no option ON; did you mean on?"),
        ("%paddle_mem on off", "%paddle_mem takes one command: on, off, report, free"),
        ("%paddle_mem on on", "%paddle_mem takes one command: on, off, report, free"),
        ("%paddle_mem # the chart", "%paddle_mem has no option #; it has on, off, report, free"),
        ("%paddle_mem free everything", "%paddle_mem has no option everything"),
        ("%paddle_mem --help", "%paddle_mem? shows its options"),
        ("%paddle_mem --height 10em", "%paddle_mem: argument --height: invalid int value"),
        ("%paddle_mem --height", "%paddle_mem: argument --height: expected one argument"),
        ("%%paddle_mem --help\nran = True", "%%paddle_mem? shows its options"),
        ("%%paddle_mem --height 10em\nran = True", "%%paddle_mem: argument --height: invalid"),
        ("%%paddle_mem off\nran = True", "%paddle_mem off, with one %, is a line by itself"),
        ("%%paddle_trace off\nran = True", "%%paddle_trace has no option off; it has --view"),
        ("%%paddle_mem --vew memory\nran = True", "%%paddle_mem has no option --vew; did you mean"),
        ("%%paddle_mem --view sideways\nran = True", "--view cannot be 'sideways'; it is one of "),
    ],
)
def test_a_wrong_word_is_one_sentence(
    shell: InteractiveShell, command: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(shell, command)
    assert isinstance(result.error_in_exec, UsageError)
    printed = capsys.readouterr()
    assert sentence in printed.err + printed.out
    assert "ran" not in shell.user_ns


@pytest.mark.parametrize("magic", ["%paddle_mem", "%%paddle_mem"])
def test_the_help_tells_the_words(
    shell: InteractiveShell, magic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, f"{magic}?")
    printed = capsys.readouterr().out
    assert f"{magic} [" in printed


def test_unloading_takes_the_magics_away(shell: InteractiveShell) -> None:
    shell.run_line_magic("unload_ext", "paddle_lab")
    magics = shell.magics_manager.magics
    assert "paddle_mem" not in magics["line"]
    assert "paddle_mem" not in magics["cell"]
    shell.run_line_magic("load_ext", "paddle_lab")
    run(shell, "%%paddle_mem -q\nkept = x * 4").raise_error()
