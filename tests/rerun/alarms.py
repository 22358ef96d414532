"""The findings of a rerun that are warnings or errors."""

from __future__ import annotations

from paddle_lab.api import Trace


def alarms(trace: Trace) -> list[str]:
    """Return the kinds of a rerun's findings."""
    return [finding.kind for finding in trace.findings if finding.severity != "info"]
