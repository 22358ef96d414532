"""Shows the set-ups of the ranks of a job as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle_lab.analysis.tables.text_table import Report, Reported, header
from paddle_lab.runs.finding import RunFinding
from paddle_lab.runs.setup import setup_findings
from paddle_lab.words import say

_COLUMNS = ("rank", "host", "device", "backend", "endpoint", "paddle")


class ClusterCheck(Reported):
    """The set-ups of the ranks, and the mistakes in them.

    Parameters
    ----------
    setups
        The set-up of each rank.
    """

    def __init__(self, setups: Mapping[int, dict[str, Any]]) -> None:
        self.ranks = setups
        """The set-up of each rank, as a dict of named values."""
        self.findings: list[RunFinding] = setup_findings(setups)
        """The mistakes in the set-ups. Each has ``message``, ``severity`` and ``ranks``."""

    def _report(self) -> Report:
        rows = [
            tuple(str(setup[name]) for name in _COLUMNS) for _, setup in sorted(self.ranks.items())
        ]
        notes = [str(one) for one in self.findings] or [say("runs.setup.nothing")]
        return Report("", header("runs", *_COLUMNS), rows, (0,), len(rows), notes)
