"""Loops, lines and sources of modules that are edited while the process runs."""

from __future__ import annotations

import importlib
import itertools
import linecache
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import paddle_lab
from tests.loops.test_loops import reads_variables, turns_of_ops

TEXT = """import paddle


def left(x):
    for k in range(2):
        x = x * 2
    return x


class Model:
    def run(self, x):
        for step in range(2):
            x = x + 1
        return x
"""
_names = (f"edited_module_{number}" for number in itertools.count())
_seconds = itertools.count(10, 10)


class Module:
    """A module in a file that tests edit."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / f"{next(_names)}.py"
        self.write(TEXT)
        self.module: ModuleType = importlib.import_module(self.file.stem)

    def write(self, text: str) -> None:
        self.file.write_text(text)
        # Python compares the seconds of the time with those of the compiled file.
        later = self.file.stat().st_mtime + next(_seconds)
        os.utime(self.file, (later, later))

    def traced(self) -> tuple[list[str], list[str], list[str]]:
        """Return the iteration of each op, its line's text in the file, and the stored texts."""
        import paddle

        x = paddle.ones([1])
        with paddle_lab.trace() as trace:
            self.module.Model().run(self.module.left(x))
        lines = self.file.read_text().splitlines()
        record = trace.record
        sources = zip(record.sources["file"], record.sources["text"], strict=True)
        return (
            [" / ".join(turns) for turns in turns_of_ops(record)],
            [lines[op.line - 1].strip() for op in trace.ops],
            [record.text(text) for file, text in sources if record.text(file) == str(self.file)],
        )


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Module:
    monkeypatch.syspath_prepend(str(tmp_path))
    return Module(tmp_path)


pytestmark = reads_variables

TURNS = ["k 1", "k 2", "step 1", "step 2"]
LINES = ["x = x * 2"] * 2 + ["x = x + 1"] * 2


def test_a_module_that_is_edited_and_imported_again(module: Module) -> None:
    assert module.traced() == (TURNS, LINES, [TEXT])
    module.write("# new\n" + TEXT)
    importlib.reload(module.module)
    assert module.traced() == (TURNS, LINES, ["# new\n" + TEXT])


def test_functions_below_an_edit_that_are_not_imported_again(module: Module) -> None:
    module.traced()
    module.write("# new\n" + TEXT)
    assert module.traced() == (TURNS, LINES, ["# new\n" + TEXT])


def test_a_text_that_did_not_run_is_not_shown(module: Module) -> None:
    module.write(TEXT.replace("x * 2", "x * 3").replace("x + 1", "x - 1"))
    turns, _, sources = module.traced()
    assert set(turns) == {""}
    assert sources == []


def test_the_text_that_ran_is_shown_after_an_edit(module: Module) -> None:
    module.traced()
    module.write(TEXT.replace("x * 2", "x * 3").replace("x + 1", "x - 1"))
    assert module.traced()[::2] == (TURNS, [TEXT])


def test_functions_that_autoreload_compiled(module: Module) -> None:
    shell: Any = InteractiveShell.instance()
    shell.run_cell("%load_ext autoreload\n%autoreload 2")
    shell.run_cell(f"import {module.file.stem}")
    module.traced()
    text = "# new\n" + TEXT.replace("x * 2", "(x\n            * 3)").replace("x + 1", "x - 1")
    module.write(text)
    linecache.checkcache()
    shell.run_cell("0")
    shell.run_cell("%autoreload 0")
    assert sys.modules[module.file.stem] is module.module
    lines = ["x = (x"] * 2 + ["x = x - 1"] * 2
    assert module.traced() == (TURNS, lines, [text])


def test_autoreload_beside_a_function_that_does_not_compile_alone(module: Module) -> None:
    inner = (
        "\n\ndef outer():\n    run = 0\n\n    def add():\n        nonlocal run\n        run += 1\n"
    )
    module.write(TEXT + inner)
    shell: Any = InteractiveShell.instance()
    shell.run_cell("%load_ext autoreload\n%autoreload 2")
    shell.run_cell(f"import {module.file.stem}")
    module.traced()
    text = inner + TEXT.replace("x + 1", "(x - 1)")
    module.write(text.replace("x * 2", "x*(\n            2)"))
    shell.run_cell("0")
    shell.run_cell("%autoreload 0")
    turns, lines, _ = module.traced()
    assert turns == TURNS
    assert lines == ["x = x*("] * 2 + ["x = (x - 1)"] * 2


def test_equal_functions_of_two_classes_keep_their_lines(module: Module) -> None:
    second = TEXT.partition("class")[2].replace("Model", "Other")
    module.write(f"{TEXT}\n\nclass{second}".replace("x * 2", "x * 3"))
    importlib.reload(module.module)
    module.write(f"# new\n{module.file.read_text()}")
    module.module.Model = module.module.Other
    turns, _, _ = module.traced()
    assert turns == TURNS
    import paddle

    x = paddle.ones([1])
    with paddle_lab.trace() as trace:
        module.module.Model().run(x)
    lines = module.file.read_text().splitlines()
    assert {op.line for op in trace.ops} == {len(lines) - 1}
