"""Healthy code has no finding of severity warning or error."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddle_lab.trace.limit import KEEPS, Keep
from tests.bugs.bug_file import faults, run_bug

PARTS = ["several_optimizers", "teacher", "collected_for_later", "training/moving_average"]
HEALTHY = Path(__file__).parent / "healthy"
CELLS = sorted(HEALTHY.glob("*.py"))


@pytest.mark.parametrize("path", CELLS, ids=lambda path: path.stem)
def test_no_alarm(path: Path) -> None:
    trace, raised = run_bug(path)
    assert raised is None, raised
    assert faults(trace) == []
    alarms = [finding for finding in trace.findings if finding.severity != "info"]
    assert not alarms, "\n".join(map(str, alarms))


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("name", PARTS)
def test_no_alarm_on_a_part_of_a_run(name: str, keep: Keep) -> None:
    trace, raised = run_bug(HEALTHY / f"{name}.py", limit=40, keep=keep)
    assert raised is None, raised
    assert trace.record.origin.kept == keep
    assert faults(trace) == []
    alarms = [finding for finding in trace.findings if finding.severity != "info"]
    assert not alarms, "\n".join(map(str, alarms))
