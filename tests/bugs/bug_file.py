"""Runs a cell with a planted bug, and returns the findings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import paddle_lab
from paddle_lab import Trace
from paddle_lab.analysis.findings.finding import Finding

_MARK = re.compile(r"#\s*BUG: (?P<kind>[a-z-]+)")


def run_bug(
    path: Path, *, check: str = "all", **options: Any
) -> tuple[Trace, BaseException | None]:
    """Run a file as a traced cell; return the trace and the exception it ended in."""
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    raised: BaseException | None = None
    trace = None
    try:
        with paddle_lab.trace(check=check, **options) as trace:
            exec(code, {"__name__": "__main__"})
    except Exception as error:  # noqa: BLE001  (whatever a bug raises)
        raised = error
    assert trace is not None
    return trace, raised


def planted(path: Path) -> set[tuple[str, int]]:
    """Return the kinds and lines that a file marks as bugs."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {
        (match["kind"], number)
        for number, line in enumerate(lines, 1)
        for match in _MARK.finditer(line)
    }


def found(trace: Trace, path: Path) -> set[tuple[str, int]]:
    """Return the kinds and lines that a trace's findings name in a file."""
    return {(finding.kind, finding.line) for finding in trace.findings if _is_in(finding, path)}


def _is_in(finding: Finding, path: Path) -> bool:
    return Path(finding.file) == path


def faults(trace: Trace) -> list[str]:
    """Return the notices about checks that failed. Such checks find nothing and alarm nobody."""
    assert trace.findings is not None  # they run when asked for
    return [notice for notice in trace.record.origin.notices if "fault" in notice]
