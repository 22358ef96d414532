"""Healthy code has no finding of severity warning or error."""

from __future__ import annotations

from pathlib import Path

import paddle
import pytest

import paddle_lab
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


def test_no_check_recurses_over_a_long_chain_of_factors() -> None:
    x = paddle.ones([4])
    with paddle_lab.trace() as trace:
        for _ in range(2000):
            x = x * 1.001
        x * x
    assert not trace.findings
    assert trace.record.origin.notices == []
