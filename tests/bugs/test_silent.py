"""Trainings that raise nothing and are wrong: a warning names the line, and the twin has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bugs.bug_file import faults
from tests.bugs.silent_file import PROGRAMS, marked, mended, run

WITH_VALUES = {"dead_units"}
"""Programs whose error only the values of all tensors show."""


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_line_is_named_and_the_twin_is_clean(path: Path) -> None:
    text, check = path.read_text(encoding="utf-8"), "all" if path.stem in WITH_VALUES else None
    wrong = run(text, str(path), check)
    assert faults(wrong) == []
    alarms = {one.line for one in wrong.findings if one.severity != "info"}
    assert alarms & marked(path), "\n".join(map(str, wrong.findings))
    twin = run(mended(text), str(path), check)
    assert faults(twin) == []
    found = [one for one in twin.findings if one.severity != "info"]
    assert not found, "\n".join(map(str, found))
