"""Healthy code has no finding of severity warning or error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bugs.bug_file import faults, run_bug

CELLS = sorted((Path(__file__).parent / "healthy").glob("*.py"))


@pytest.mark.parametrize("path", CELLS, ids=lambda path: path.stem)
def test_no_alarm(path: Path) -> None:
    trace, raised = run_bug(path)
    assert raised is None, raised
    assert faults(trace) == []
    alarms = [finding for finding in trace.findings if finding.severity != "info"]
    assert not alarms, "\n".join(map(str, alarms))
