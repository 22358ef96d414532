"""Below a traced cell's traceback is advice; other errors get none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from IPython.utils.capture import capture_output

from paddle_lab import words as spoken
from tests.notebook.shell import fresh_shell, run

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import CapturedIO

_SETUP = "import paddle\nnet = paddle.nn.Linear(4, 2)\nx = paddle.ones([3, 2])"
_IN_PLACE = """a = paddle.ones([4])
a.stop_gradient = False
b = a ** 2
c = b ** 2
b[1:2] = 3.0
c.sum().backward()"""


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    with fresh_shell(setup=_SETUP) as shell:
        yield shell


def shown(shell: InteractiveShell, cell: str) -> tuple[list[dict[str, str]], CapturedIO]:
    """Run a cell; return what it displayed as notes, and all that it printed."""
    with capture_output() as captured:
        run(shell, cell)
    data = [output.data for output in captured.outputs]
    others = ("<Trace", "Memory on")
    return [one for one in data if not one["text/plain"].startswith(others)], captured


@pytest.mark.parametrize("magic", ["%%paddle_trace", "%%paddle_mem"])
def test_the_advice_stands_below_the_traceback(shell: InteractiveShell, magic: str) -> None:
    (note,), captured = shown(shell, f"{magic}\nnet(x)")
    assert "the layer was made for 4" in note["text/plain"]
    assert "<code>in_features</code>" in note["text/html"]
    assert "Traceback" in captured.stdout
    assert "matmul_en.html" in note["text/html"]


def test_it_speaks_the_chosen_language(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spoken, "_chosen", "zh")
    (note,), _ = shown(shell, "%%paddle_trace\nnet(x)")
    assert "矩阵乘法的维度不匹配" in note["text/plain"]


def test_a_finding_that_names_the_line_stands_for_the_advice(shell: InteractiveShell) -> None:
    (note,), _ = shown(shell, f"%%paddle_trace\n{_IN_PLACE}")
    assert "b[1:2] = 3.0" in note["text/plain"]
    assert "A tensor that backward needs was modified in place" not in note["text/plain"]


def test_without_checks_the_advice_is_there(shell: InteractiveShell) -> None:
    (note,), _ = shown(shell, f"%%paddle_trace --check none\n{_IN_PLACE}")
    assert "A tensor that backward needs was modified in place" in note["text/plain"]


@pytest.mark.parametrize(
    "cell",
    [
        "%%paddle_trace\n{}['loss']",
        "%%paddle_trace\nraise ValueError('shapes do not match')",
        "%%paddle_trace\n1 / 0",
        "%%paddle_trace\nraise KeyboardInterrupt",
        "%%paddle_trace\nx * 2",
        "%%paddle_trace -q\nnet(x)",
        "net(x)",
    ],
)
def test_nothing_is_said_where_nothing_is_known(shell: InteractiveShell, cell: str) -> None:
    assert shown(shell, cell)[0] == []


def test_an_error_after_a_backward_that_was_caught_is_another_matter(
    shell: InteractiveShell,
) -> None:
    caught = _IN_PLACE.replace(
        "c.sum().backward()", "try:\n    c.sum().backward()\nexcept RuntimeError:\n    {}['loss']"
    )
    assert shown(shell, f"%%paddle_trace\n{caught}")[0] == []


def test_the_words_of_an_error_are_text(shell: InteractiveShell) -> None:
    (note,), _ = shown(
        shell, "%%paddle_trace\nraise ValueError('`paddle.load` can not parse the file:<b>x</b>')"
    )
    assert "<b>x</b>" in note["text/plain"]
    assert "<b>x</b>" not in note["text/html"]
