"""Trainings that raise nothing and are wrong: a warning names the line, and the twin has none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bugs.bug_file import faults
from tests.bugs.silent_file import PROGRAMS, TRAINCHECK, marked, mended, run

MEANT = sorted((Path(__file__).parent / "meant").glob("*/*.py"))
"""Healthy programs that look like one with a silent error."""
WITH_VALUES = {"dead_units", "saturated"}
"""Programs whose error only the values of all tensors show."""
WITH_COLUMNS = {"dropout_lost", "clip_result_lost"}
"""Programs whose error is found where Python records the columns of calls."""

MISSED = {
    "average_without_statistics",
    "batch_collapses_to_one",
}
"""Programs whose error no check finds yet."""


@pytest.mark.parametrize("path", PROGRAMS + TRAINCHECK, ids=lambda path: path.stem)
def test_the_line_is_named_and_the_twin_is_clean(path: Path) -> None:
    if path.stem in WITH_COLUMNS and sys.version_info < (3, 11):
        pytest.skip("Python 3.10 records no columns")
    text, check = path.read_text(encoding="utf-8"), "all" if path.stem in WITH_VALUES else None
    wrong = run(text, str(path), check)
    assert faults(wrong) == []
    alarms = {one.line for one in wrong.findings if one.severity != "info"}
    is_found = bool(alarms & marked(path))
    assert is_found is (path.stem not in MISSED), "\n".join(map(str, wrong.findings))
    twin = run(mended(text), str(path), check)
    assert faults(twin) == []
    found = [one for one in twin.findings if one.severity != "info"]
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("path", MEANT, ids=lambda path: path.stem)
def test_what_is_meant_is_no_alarm(path: Path) -> None:
    trace = run(path.read_text(encoding="utf-8"), str(path))
    assert faults(trace) == []
    found = [one for one in trace.findings if one.severity != "info"]
    assert not found, "\n".join(map(str, found))


def test_a_comment_says_that_a_line_is_meant(tmp_path: Path) -> None:
    path = next(path for path in PROGRAMS if path.stem == "softmax_by_hand")
    text = path.read_text(encoding="utf-8")
    for said, is_ignored in (("[loss-input]", True), ("", True), ("[same-seed]", False)):
        copy = tmp_path / f"cell_{len(said)}.py"
        copy.write_text(text.replace("# WRONG", f"# paddle-lab: ignore{said}"), encoding="utf-8")
        trace = run(copy.read_text(encoding="utf-8"), str(copy))
        assert ("loss-input" in {one.kind for one in trace.findings}) is not is_ignored
