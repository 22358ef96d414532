"""Whole programs, as people write them: the checks find nothing, not even a note.

Each is traced twice: as a whole with every check; and as in a notebook, where other cells ran the
code before a loop, and will run the code after it.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import paddle_lab
from tests.bugs.bug_file import faults, run_bug

PROGRAMS = sorted((Path(__file__).parent / "healthy").glob("*/*.py"))
LOOPS = (ast.For, ast.While, ast.With, ast.Try)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_nothing_is_found(path: Path) -> None:
    trace, raised = run_bug(path)
    assert raised is None, raised
    assert faults(trace) == []
    assert not trace.findings, "\n".join(map(str, trace.findings))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_nothing_is_found_in_one_loop_alone(path: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        code = compile(ast.Module([statement], []), str(path), "exec")
        if not isinstance(statement, LOOPS):
            exec(code, namespace)
            continue
        with paddle_lab.trace() as trace:
            exec(code, namespace)
        assert faults(trace) == []
        assert not trace.findings, "\n".join(map(str, trace.findings))
