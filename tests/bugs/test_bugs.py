"""Each planted bug is found: its kind, its file, its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bugs.bug_file import faults, found, planted, run_bug

CELLS = sorted((Path(__file__).parent / "cells").glob("*.py"))


@pytest.mark.parametrize("path", CELLS, ids=lambda path: path.stem)
def test_the_guilty_line_is_named(path: Path) -> None:
    trace, _ = run_bug(path)
    assert faults(trace) == []
    wanted = planted(path)
    assert wanted, "the file marks no bug"
    assert wanted <= found(trace, path), "\n".join(map(str, trace.findings))
    alarms = {
        (finding.kind, finding.line) for finding in trace.findings if finding.severity != "info"
    }
    assert {one for one in alarms if one[0] != "backward-failed"} <= wanted
